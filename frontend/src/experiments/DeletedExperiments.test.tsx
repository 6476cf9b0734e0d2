import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { DeletedExperiments } from './DeletedExperiments';

const deleted = (id: string, runs?: number) => ({ id, name: `gone-${id}`, runs, deleted_at: '2026-11-20T10:00:00Z' });

it('lists deleted experiments with the runs that stayed, and brings one back', async () => {
  let list = [deleted('a', 3), deleted('b')];
  server.use(
    http.get('*/apis/argosy/v1/experiments\\:deleted', () =>
      HttpResponse.json({ experiments: list, total_size: list.length }),
    ),
    http.post('*/apis/argosy/v1/experiments/a\\:restore', () => {
      list = list.slice(1);
      return HttpResponse.json({ id: 'a', name: 'gone-a' });
    }),
    http.post('*/apis/argosy/v1/experiments/b\\:restore', () =>
      HttpResponse.json({ message: 'an experiment named "gone-b" was created since' }, { status: 409 }),
    ),
  );
  renderAt('/', '/', () => <DeletedExperiments q={undefined} onClear={() => undefined} />);
  const row = await screen.findByRole('row', { name: /gone-a/ });
  expect(within(row).getByText('3')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Restore: gone-a' }));
  await waitFor(() => expect(screen.queryByText('gone-a')).toBeNull());
  await userEvent.click(screen.getByRole('button', { name: 'Restore: gone-b' }));
  expect(await screen.findByText(/was created since/)).toBeTruthy();
});

it('says that nothing is deleted', async () => {
  server.use(http.get('*/apis/argosy/v1/experiments\\:deleted', () => HttpResponse.json({})));
  renderAt('/', '/', () => <DeletedExperiments q="x" onClear={() => undefined} />);
  expect(await screen.findByRole('heading', { name: 'No experiment is deleted' })).toBeTruthy();
});
