import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { Retention } from './Retention';

it('removes only what it has shown, by the same policy', async () => {
  const asked = vi.fn();
  server.use(
    http.post('*/apis/argosy/v1/prune', async ({ request }) => {
      asked(await request.json());
      return HttpResponse.json({
        policy: 'runs of 30 days',
        bytes: '2000000',
        runs: [{ run_id: 'r', name: 'old', experiment: 'e', run: true, bytes: '2000000' }],
      });
    }),
  );
  renderAt('/', '/', Retention);
  const keep = await screen.findByLabelText('Keep runs');
  await userEvent.type(keep, '30d');
  expect(screen.queryByRole('button', { name: 'Remove these' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Show what would go' }));
  expect(await screen.findByText(/runs of 30 days.*concerned: 1, in all 2 MB/)).toBeTruthy();

  // Another policy is another plan.
  await userEvent.type(keep, '9');
  expect(screen.queryByRole('button', { name: 'Remove these' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Show what would go' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Remove these' }));
  const buttons = await screen.findAllByRole('button', { name: 'Remove these' });
  await userEvent.click(buttons.at(-1) as HTMLElement);
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(3));
  expect(asked.mock.calls.map(([body]) => body)).toEqual([
    { keep_runs: '30d', dry_run: true },
    { keep_runs: '30d9', dry_run: true },
    { keep_runs: '30d9', dry_run: false },
  ]);
});

it('says why the server refuses a policy', async () => {
  const error = 'the server keeps everything; say what is to be kept';
  server.use(http.post('*/apis/argosy/v1/prune', () => HttpResponse.json({ error, code: 3 }, { status: 400 })));
  renderAt('/', '/', Retention);
  await userEvent.click(await screen.findByRole('button', { name: 'Show what would go' }));
  expect((await screen.findByRole('alert')).textContent).toContain(error);
});
