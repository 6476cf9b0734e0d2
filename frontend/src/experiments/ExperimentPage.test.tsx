import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { ExperimentPage } from './ExperimentPage';

const archived = { id: 'a', name: 'gone', storage_state: 'STORAGESTATE_ARCHIVED' };

/** Answers for an experiment, and says which calls changed something. */
function serve(isDeleted: boolean) {
  let back = false;
  const calls: string[] = [];
  const change = ({ request }: { request: Request }) => {
    calls.push(new URL(request.url).pathname);
    back = true;
    return HttpResponse.json({ id: 'a', name: 'gone' });
  };
  server.use(
    http.get('*/apis/v1beta1/experiments/a', () =>
      HttpResponse.json(back ? { ...archived, storage_state: 'STORAGESTATE_AVAILABLE' } : archived),
    ),
    http.get('*/apis/argosy/v1/experiments\\:deleted', () =>
      HttpResponse.json({ experiments: isDeleted && !back ? [archived] : [], total_size: 0 }),
    ),
    http.get('*/apis/argosy/v1/runs', () =>
      HttpResponse.json({ runs: [{ id: 'r', name: 'r', status: 'Succeeded' }], total_size: 1 }),
    ),
    http.post('*/apis/argosy/v1/experiments/a\\:restore', change),
    http.post('*/apis/v1beta1/experiments/a\\:unarchive', change),
  );
  return calls;
}

it('restores a deleted experiment as a deleted one, and starts no run in it before', async () => {
  const calls = serve(true);
  renderAt('/experiments/a', '/experiments/$experimentId', ExperimentPage);
  expect(await screen.findByText(/This experiment was deleted/)).toBeTruthy();
  expect(screen.queryByRole('link', { name: 'Create run' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Restore: gone' }));
  await waitFor(() => expect(calls).toEqual(['/apis/argosy/v1/experiments/a:restore']));
  expect(await screen.findByRole('button', { name: 'Actions: gone' })).toBeTruthy();
  expect(screen.queryByText(/This experiment was deleted/)).toBeNull();
});

it('takes an archived experiment out of the archive', async () => {
  const calls = serve(false);
  renderAt('/experiments/a', '/experiments/$experimentId', ExperimentPage);
  await userEvent.click(await screen.findByRole('button', { name: 'Restore: gone' }));
  await waitFor(() => expect(calls).toEqual(['/apis/v1beta1/experiments/a:unarchive']));
});
