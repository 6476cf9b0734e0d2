import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { Keys } from './Keys';

beforeEach(() => {
  server.use(
    http.get('*/apis/v1beta1/pipelines', () => HttpResponse.json({ pipelines: [{ id: 'p1', name: 'mpi_run' }] })),
    http.get('*/apis/argosy/v1/runs', () => HttpResponse.json({ runs: [{ id: 'r1', name: 'mpi tonight' }] })),
  );
});

const show = async () => {
  const router = renderAt('/', '/', () => (
    <>
      <Keys />
      <input aria-label="some field" />
    </>
  ));
  await screen.findByLabelText('some field');
  return router;
};

it('goes to a run by a part of its name, with the keyboard alone', async () => {
  const router = await show();
  await userEvent.keyboard('{Control>}k{/Control}');
  const field = await screen.findByRole('combobox');
  await userEvent.type(field, 'mpi');
  await screen.findByRole('option', { name: /mpi tonight/ });
  await screen.findByRole('option', { name: /mpi_run/ });
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    'mpi_runPipeline',
    'mpi tonightRun',
  ]);
  await userEvent.keyboard('{ArrowDown}{Enter}');
  await waitFor(() => expect(router.state.location.pathname).toBe('/runs/r1'));
});

/** Presses a key at a time of its own: how long a machine takes from one key to the next does not count. */
function press(key: string, timeStamp: number) {
  const event = new KeyboardEvent('keydown', { key, bubbles: true });
  Object.defineProperty(event, 'timeStamp', { value: timeStamp });
  act(() => void document.body.dispatchEvent(event));
}

it('goes to pages by their keys, but not while something is typed', async () => {
  const router = await show();
  await userEvent.type(screen.getByLabelText('some field'), 'gs?');
  expect(router.state.location.pathname).toBe('/');
  expect(screen.queryByRole('dialog')).toBeNull();
  (document.activeElement as HTMLElement).blur();
  press('g', 0);
  press('s', 1_600);
  expect(router.state.location.pathname).toBe('/');
  press('g', 2_000);
  press('s', 3_400);
  await waitFor(() => expect(router.state.location.pathname).toBe('/schedules'));
});

it('goes by Enter only where the words lead, while the server is still asked for them', async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const run = (name: string) => ({ id: name, name });
  server.use(
    http.get('*/apis/v1beta1/pipelines', () => HttpResponse.json({ pipelines: [] })),
    http.get('*/apis/argosy/v1/runs', async ({ request }) => {
      if (new URL(request.url).search.includes('mpi2')) await held;
      return HttpResponse.json({ runs: [run('mpi1'), run('mpi2')] });
    }),
  );
  await show();
  await userEvent.keyboard('{Control>}k{/Control}');
  const field = await screen.findByRole('combobox');
  await userEvent.type(field, 'mpi');
  await screen.findByRole('option', { name: /mpi1/ });
  await userEvent.type(field, '2');
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(['mpi2Run']);
  answer();
});

it('shows the keys', async () => {
  await show();
  await userEvent.keyboard('?');
  expect(await screen.findByRole('dialog', { name: 'Keys' })).toBeTruthy();
  expect(screen.getByRole('row', { name: /Schedules/ }).textContent).toBe('gsSchedules');
});
