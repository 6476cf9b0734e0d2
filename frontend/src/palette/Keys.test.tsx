import { screen, waitFor } from '@testing-library/react';
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
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    'mpi_runPipeline',
    'mpi tonightRun',
  ]);
  await userEvent.keyboard('{ArrowDown}{Enter}');
  await waitFor(() => expect(router.state.location.pathname).toBe('/runs/r1'));
});

it('goes to pages by their keys, but not while something is typed', async () => {
  const router = await show();
  await userEvent.type(screen.getByLabelText('some field'), 'gs?');
  expect(router.state.location.pathname).toBe('/');
  expect(screen.queryByRole('dialog')).toBeNull();
  (document.activeElement as HTMLElement).blur();
  await userEvent.keyboard('gs');
  await waitFor(() => expect(router.state.location.pathname).toBe('/schedules'));
});

it('shows the keys', async () => {
  await show();
  await userEvent.keyboard('?');
  expect(await screen.findByRole('dialog', { name: 'Keys' })).toBeTruthy();
  expect(screen.getByRole('row', { name: /Schedules/ }).textContent).toBe('gsSchedules');
});
