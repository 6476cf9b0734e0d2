import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { homeStates } from '../api/home';
import { renderApp, renderAt } from '../test/render';
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

interface Runs {
  running?: object[];
  waiting?: object[];
  failed?: object[];
  recent?: object[];
}

/** A server with these runs; of a kind that has as many rows as the page shows there are 250. */
function answer({ running = [], waiting = [], failed = [], recent = [] }: Runs, jobs: object[]) {
  const asked = vi.fn();
  const kindOf = (search: URLSearchParams) => {
    const filter = decodeURIComponent(search.get('filter') ?? '');
    if (filter.includes('Running')) return running;
    if (filter.includes('Waiting')) return waiting;
    return search.getAll('status').includes('Failed') ? failed : recent;
  };
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      const { searchParams } = new URL(request.url);
      asked();
      const runs = kindOf(searchParams);
      const size = Number(searchParams.get('page_size'));
      return HttpResponse.json({ runs: runs.slice(0, size), total_size: runs.length < size ? runs.length : 250 });
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
  const router = renderAt('/', '/', HomePage);
  return { asked, router };
}

it('tells what runs and for how long, what failed and why, what waits and for what, and what is due', async () => {
  const { asked } = answer(
    {
      running: [{ id: 'r', name: 'going', status: 'Running', started_at: ago(60), created_at: ago(60), pipeline }],
      waiting: [
        {
          id: 'w',
          name: 'queued',
          status: 'Running',
          created_at: ago(30),
          waiting: { node_id: 'n', step: 'train', why: 'no node has 8 GPUs free', steps: 3 },
        },
        { id: 'a', name: 'accepted', created_at: ago(20) },
      ],
      failed: [{ id: 'f', name: 'broken', status: 'Failed', error: 'exit code 1\ntrace', created_at: ago(90) }],
      recent: [{ id: 'd', name: 'done', status: 'Succeeded', started_at: ago(400), finished_at: ago(280), pipeline }],
    },
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
  const failed = screen.getByRole('region', { name: 'Failed (1)' });
  expect(within(failed).getByText('exit code 1')).toBeTruthy();
  const waiting = screen.getByRole('region', { name: 'Waiting (2)' });
  expect(within(waiting).getByText('Step “train” waits: no node has 8 GPUs free (2 more steps wait)')).toBeTruthy();
  expect(within(waiting).getByText(/^Accepted/)).toBeTruthy();
  const due = screen.getByRole('region', { name: 'Due next' });
  expect(within(due).getByText('in 59 minutes')).toBeTruthy();
  expect(within(due).queryByText('off')).toBeNull();
  const capacity = screen.getByRole('region', { name: 'Capacity' });
  expect(await within(capacity).findByText('2 free')).toBeTruthy();
  expect(within(capacity).getByText('GPU')).toBeTruthy();
  expect(within(capacity).getByText('25 GiB free')).toBeTruthy();
  expect(within(capacity).getByText('team: 1 running, 2 waiting')).toBeTruthy();
  expect(within(capacity).queryByText(/idle/)).toBeNull();
  expect(asked).toHaveBeenCalledTimes(6);
});

it('shows the newest that succeeded, how long it took and what it measured', async () => {
  const done = (name: string, finished: number) => ({
    id: name,
    name,
    status: 'Succeeded',
    started_at: ago(finished + 120),
    finished_at: ago(finished),
    metrics: name === 'last' ? [{ name: 'images/sec', node_id: 'n', value: 1661.79, format: 'RAW' }] : undefined,
    pipeline,
  });
  answer({ recent: [done('earlier', 330), done('last', 90), { id: 'f', name: 'broken', status: 'Failed' }] }, []);
  const succeeded = await screen.findByRole('region', { name: 'Succeeded last' });
  expect(
    within(succeeded)
      .getAllByRole('listitem')
      .map((row) => row.textContent),
  ).toEqual(['last1 minute agotook 2m 0simages/sec: 1,661.79', 'earlier5 minutes agotook 2m 0s']);
});

it('counts all that runs, waits and failed, not only the rows that it shows', async () => {
  const many = (name: string, status: string) =>
    Array.from({ length: 7 }, (_, i) => ({ id: name + i, name: `${name} ${i}`, status, created_at: ago(i) }));
  answer(
    {
      running: many('going', 'Running'),
      waiting: many('queued', 'Pending'),
      failed: many('broken', 'Failed'),
      recent: many('going', 'Running'),
    },
    [],
  );
  for (const name of ['Running now (250)', 'Waiting (250)', 'Failed (250)']) {
    const card = await screen.findByRole('region', { name });
    expect(within(card).getAllByRole('listitem')).toHaveLength(7);
    expect(within(card).getByRole('link', { name: 'and 244 more' })).toBeTruthy();
  }
});

it.each([
  ['Running now (250)', 'running'],
  ['Waiting (250)', 'waiting'],
  ['Failed (250)', 'failed'],
] as const)('leads from %s to a list of exactly these runs', async (name, kind) => {
  const many = Array.from({ length: 7 }, (_, i) => ({ id: `r${i}`, name: `run ${i}`, created_at: ago(i) }));
  const asked: string[] = [];
  answer({ running: many, waiting: many, failed: many, recent: many }, []);
  const narrowing = (url: string) => {
    const { searchParams } = new URL(url);
    return JSON.stringify([searchParams.getAll('status'), searchParams.get('filter'), searchParams.get('archived')]);
  };
  server.events.on('request:start', ({ request }) => void asked.push(request.url));
  try {
    const card = await screen.findByRole('region', { name });
    const link = within(card).getByRole('link', { name: 'and 244 more' });
    const states = new URL((link as HTMLAnchorElement).href).searchParams.getAll('status');
    expect(states).toEqual(homeStates[kind]);
    cleanup();
    const counted = asked.filter((url) => url.includes('page_size=6')).map(narrowing);
    expect(new Set(counted).size).toBe(3);
    asked.length = 0;
    renderApp(`/runs?${states.map((status) => `status=${status}`).join('&')}`);
    await screen.findByText('run 0');
    const listed = asked.filter((url) => url.includes('/argosy/v1/runs?')).map(narrowing);
    expect(counted).toContain(listed[0]);
    expect(counted.indexOf(listed[0] as string)).toBe(Object.keys(homeStates).indexOf(kind));
  } finally {
    server.events.removeAllListeners();
  }
});

it('says why the cluster does not answer, beside all that is known', async () => {
  answer({ recent: [{ id: 'd', name: 'done', status: 'Succeeded', created_at: ago(9) }] }, []);
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
  answer({ running: [run], recent: [run] }, []);
  const running = await screen.findByRole('region', { name: 'Running now (1)' });
  const [source] = sources as Source[];
  expect(source?.url).toContain('points=true');
  const points = [0, 1].map((rank) => ({ run_id: 'r', node_id: 'n', name: 'images/sec', rank, value: 700 + rank }));
  act(() => void source?.dispatchEvent(new MessageEvent('points', { data: JSON.stringify({ points }) })));
  expect(within(running).getByText('images/sec: 700.5 on each of 2 ranks')).toBeTruthy();
});

const samples = [
  { name: 'mpi_run', description: 'Trains', distributed: true },
  { name: 'own', description: 'A sample without a text of its own' },
];

it('teaches the three ways where nothing has run', async () => {
  server.use(http.get('*/apis/argosy/v1/samples', () => HttpResponse.json({ samples })));
  answer({}, []);
  for (const name of ['Start a sample', 'Upload a package', 'Write it in Go']) {
    expect(await screen.findByRole('heading', { name })).toBeTruthy();
  }
  expect(await screen.findByText('A sample without a text of its own')).toBeTruthy();
});

it('starts a sample with one click, and goes to its run', async () => {
  const started = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/samples', () => HttpResponse.json({ samples })),
    http.post('*/apis/argosy/v1/samples/:name', ({ params }) => {
      started(params.name);
      return HttpResponse.json({ run_id: 'r1' });
    }),
  );
  const { router } = answer({}, []);
  fireEvent.click(await screen.findByRole('button', { name: 'Start mpi_run' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/runs/r1'));
  expect(started.mock.calls).toEqual([['mpi_run:start']]);
});

it('says why a sample cannot start, and why one was refused', async () => {
  const lacking = { name: 'mpi_run', lacks: 'there is no mpirun' };
  server.use(
    http.get('*/apis/argosy/v1/samples', () => HttpResponse.json({ samples: [{ name: 'data_pipeline' }, lacking] })),
    http.post('*/apis/argosy/v1/samples/:name', () => HttpResponse.json({ message: 'no room' }, { status: 400 })),
  );
  answer({}, []);
  expect(await screen.findByText('mpi_run cannot start here: there is no mpirun.')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Start mpi_run' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Start data_pipeline' }));
  expect((await screen.findByRole('alert')).textContent).toContain('no room');
});
