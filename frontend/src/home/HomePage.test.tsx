import { act, screen, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { HomePage } from './HomePage';

// What has begun a minute ago stays so, however long the page takes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
const pipeline = { id: 'p', name: 'mpi' };

const cluster = {
  nodes: [
    {
      name: 'big',
      ready: true,
      schedulable: true,
      resources: [{ resource: 'nvidia.com/gpu', capacity: 8, allocatable: 8, requested: 6, free: 2 }],
    },
  ],
  queues: [
    { name: 'team', running: 1, waiting: [{ name: 'gang' }, { name: 'other' }] },
    { name: 'idle', running: 0 },
  ],
  disk: { total: 100 * 2 ** 30, free: 25 * 2 ** 30 },
};

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
    http.get('*/apis/argosy/v1/cluster', () => {
      asked();
      return HttpResponse.json(cluster);
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
  const capacity = screen.getByRole('region', { name: 'Capacity' });
  expect(await within(capacity).findByText('2 free')).toBeTruthy();
  expect(within(capacity).getByText('GPU')).toBeTruthy();
  expect(within(capacity).getByText('25 GiB free')).toBeTruthy();
  expect(within(capacity).getByText('team: 1 running, 2 waiting')).toBeTruthy();
  expect(within(capacity).queryByText(/idle/)).toBeNull();
  expect(asked).toHaveBeenCalledTimes(4);
});

it('says why the cluster does not answer, beside all that is known', async () => {
  answer([], [{ id: 'd', name: 'done', status: 'Succeeded', created_at: ago(9) }], []);
  server.use(http.get('*/apis/argosy/v1/cluster', () => HttpResponse.json({ message: 'no route' }, { status: 503 })));
  const capacity = await screen.findByRole('region', { name: 'Capacity' });
  expect((await within(capacity).findByRole('alert')).textContent).toContain('no route');
  expect(screen.getByText('Nothing runs at the moment.')).toBeTruthy();
});

it('shows how fast a run is while it goes on', async () => {
  const sources: EventTarget[] = [];
  class Source extends EventTarget {
    readonly url: string;
    constructor(url: string) {
      super();
      this.url = url;
      sources.push(this);
    }
    close() {}
  }
  vi.stubGlobal('EventSource', Source);
  const run = { id: 'r', name: 'going', status: 'Running', started_at: ago(60), created_at: ago(60), pipeline };
  answer([run], [run], []);
  const running = await screen.findByRole('region', { name: 'Running now (1)' });
  const [source] = sources as Source[];
  expect(source?.url).toContain('points=true');
  const points = [0, 1].map((rank) => ({ run_id: 'r', node_id: 'n', name: 'images/sec', rank, value: 700 + rank }));
  act(() => void source?.dispatchEvent(new MessageEvent('points', { data: JSON.stringify({ points }) })));
  expect(within(running).getByText('images/sec: 700.5 on each of 2 ranks')).toBeTruthy();
});

it('teaches the three ways where nothing has run', async () => {
  answer([], [], []);
  for (const name of ['Upload a package', 'Write it in Go', 'Use the API']) {
    expect(await screen.findByRole('heading', { name })).toBeTruthy();
  }
});
