import { screen, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { HomePage } from './HomePage';

// What has begun a minute ago stays so, however long the page takes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const pipeline = { id: 'p', name: 'mpi' };

function answer(open: object[], recent: object[], jobs: object[]) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      const { searchParams } = new URL(request.url);
      asked();
      return HttpResponse.json({ runs: searchParams.has('status') ? open : recent });
    }),
    http.get('*/apis/v1beta1/jobs', () => {
      asked();
      return HttpResponse.json({ jobs });
    }),
  );
  renderAt('/', '/', HomePage);
  return asked;
}

it('tells what runs and for how long, what failed and why, what waits and for what, and what is due', async () => {
  const asked = answer(
    [
      { id: 'r', name: 'going', status: 'Running', started_at: ago(60), created_at: ago(60), pipeline },
      {
        id: 'w',
        name: 'queued',
        status: 'Running',
        created_at: ago(30),
        waiting: { node_id: 'n', step: 'train', why: 'no node has 8 GPUs free', steps: 3 },
      },
      { id: 'a', name: 'accepted', created_at: ago(20) },
    ],
    [
      { id: 'f', name: 'broken', status: 'Failed', error: 'exit code 1\ntrace', created_at: ago(90) },
      { id: 'd', name: 'done', status: 'Succeeded', started_at: ago(400), finished_at: ago(280), pipeline },
    ],
    [
      {
        id: 's',
        name: 'nightly',
        enabled: true,
        created_at: ago(9),
        trigger: { periodic_schedule: { interval_second: '3600' } },
      },
      {
        id: 'o',
        name: 'off',
        enabled: false,
        created_at: ago(9),
        trigger: { periodic_schedule: { interval_second: '60' } },
      },
    ],
  );
  const running = await screen.findByRole('region', { name: 'Running now (1)' });
  expect(within(running).getByText('1m 0s so far; usually about 2m 0s')).toBeTruthy();
  expect(within(running).getByRole('progressbar')).toBeTruthy();
  const failed = screen.getByRole('region', { name: 'Failed last' });
  expect(within(failed).getByText('exit code 1')).toBeTruthy();
  expect(within(failed).queryByText('done')).toBeNull();
  const waiting = screen.getByRole('region', { name: 'Waiting (2)' });
  expect(within(waiting).getByText('Step “train” waits: no node has 8 GPUs free (2 more steps wait)')).toBeTruthy();
  expect(within(waiting).getByText(/^Accepted/)).toBeTruthy();
  expect(within(running).queryByText('queued')).toBeNull();
  const due = screen.getByRole('region', { name: 'Due next' });
  expect(within(due).getByText('in 59 minutes')).toBeTruthy();
  expect(within(due).queryByText('off')).toBeNull();
  expect(asked).toHaveBeenCalledTimes(3);
});

it('teaches the three ways where nothing has run', async () => {
  answer([], [], []);
  for (const name of ['Upload a package', 'Write it in Go', 'Use the API']) {
    expect(await screen.findByRole('heading', { name })).toBeTruthy();
  }
});
