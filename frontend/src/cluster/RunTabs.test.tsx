import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { EventsTab } from './EventsTab';
import { JobTab } from './JobTab';

const run = (status: string) => ({ id: 'r1', name: 'r1', status }) as Run;

const worker = (index: number, rest: object = {}) => ({
  pod: `train-worker-${index}`,
  role: 'worker',
  index,
  first_rank: index * 2,
  last_rank: index * 2 + 1,
  state: 'Running',
  node: 'big',
  address: `10.88.0.${index}`,
  ...rest,
});

const job = {
  node_id: 'n',
  step_name: 'train',
  kind: 'MPIJob',
  namespace: 'kubeflow',
  name: 'train-1',
  state: 'Running',
  attempt: 2,
  requested_world_size: 4,
  proved_world_size: 3,
  workers: [
    worker(0),
    worker(1, { state: 'Failed', restarts: 1, message: 'container worker was killed for using more memory' }),
    { pod: 'train-launcher', role: 'launcher', state: 'Running' },
  ],
  pod_group: { name: 'train-1', phase: 'Running', queue: 'default', min_available: 3, running: 3 },
  objects: [
    { kind: 'MPIJob', name: 'train-1' },
    { kind: 'Pod', name: 'train-worker-0' },
  ],
};

function serve(jobs: object, ranks: number[]) {
  const series = (points?: object[]) => (rank: number) => ({ node_id: 'n', name: 'images/sec', rank, points });
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/jobs', () => HttpResponse.json(jobs)),
    http.get('*/apis/argosy/v1/runs/r1/metrics', () => HttpResponse.json({ series: ranks.map(series()) })),
    http.get('*/apis/argosy/v1/runs/r1/metrics/:name/series', () =>
      HttpResponse.json({ series: ranks.map((rank) => series([{ step: '1', value: rank > 1 ? 40 : 100 }])(rank)) }),
    ),
  );
}

it('does not call a job a gang whose pods are placed one by one', async () => {
  const alone = {
    ...job,
    pod_group: { ...job.pod_group, min_available: 1, message: '1/2 tasks in gang unschedulable' },
  };
  serve({ jobs: [alone] }, []);
  renderAt('/', '/', () => <JobTab run={run('Running')} search={{}} onShow={() => undefined} />);
  expect(await screen.findByText(/none: each pod as it finds room, in queue default/)).toBeTruthy();
  expect(screen.queryByText(/in gang/)).toBeNull();
});

it('shows the workers of a job with their ranks, places and speeds, and marks the slow one', async () => {
  serve({ jobs: [job] }, [0, 1, 2, 3]);
  renderAt('/', '/', () => <JobTab run={run('Running')} search={{}} onShow={() => undefined} />);
  const section = within(await screen.findByRole('region', { name: 'train-1' }));
  expect(await section.findByRole('columnheader', { name: 'images/sec' })).toBeTruthy();
  const slow = within(section.getByRole('row', { name: /train-worker-1/ }));
  expect(await slow.findByText('straggler -43%')).toBeTruthy();
  expect(slow.getByText('2–3')).toBeTruthy();
  expect(slow.getByText('container worker was killed for using more memory')).toBeTruthy();
  expect(within(section.getByRole('row', { name: /train-worker-0/ })).queryByText(/straggler/)).toBeNull();
  expect(section.getByText('4 were asked for')).toBeTruthy();
  expect(section.getByText(/needs 3 pods at once in queue default; 3 run, 0 succeeded, 0 failed/)).toBeTruthy();
});

it('shows which pods share a node, the priority, and what preempted the job', async () => {
  const placed = {
    ...job,
    kind: 'TFJob',
    workers: [
      worker(0),
      worker(1, { node: 'small' }),
      { pod: 'train-ps-0', role: 'ps', state: 'Running', node: 'small' },
    ],
    priority: 100,
    priority_class: 'research',
    preemption: {
      kind: 'TFJob',
      name: 'rush-1',
      run_id: 'r2',
      run_name: 'rush',
      priority: 1000,
      at: '2026-11-20T12:00:00Z',
    },
  };
  serve({ jobs: [placed] }, []);
  renderAt('/', '/', () => <JobTab run={run('Running')} search={{}} onShow={() => undefined} />);
  const places = within(await screen.findByRole('list', { name: 'Nodes and the pods on each' })).getAllByRole(
    'listitem',
  );
  expect(places.map((place) => place.textContent)).toEqual(['bigworker 0', 'smallps 0worker 1']);
  expect(screen.getByText('100 (research)')).toBeTruthy();
  expect(screen.getByText(/by TFJob rush-1, priority 1000/)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'rush' }).getAttribute('href')).toBe('/runs/r2');
});

it('shows the YAML of the object that the URL names', async () => {
  serve({ jobs: [job] }, []);
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/jobs/:kind/:name', ({ params }) => {
      asked(params.kind, params.name);
      return HttpResponse.json({ yaml: 'kind: Pod\n' });
    }),
  );
  const onShow = vi.fn();
  renderAt('/', '/', () => <JobTab run={run('Running')} search={{ object: 'Pod/train-worker-0' }} onShow={onShow} />);
  const choice = await screen.findByRole('combobox');
  await waitFor(() => expect(asked).toHaveBeenCalledWith('Pod', 'train-worker-0'));
  await userEvent.selectOptions(choice, 'MPIJob train-1');
  expect(onShow).toHaveBeenCalledWith({ object: 'MPIJob/train-1' });
  expect(screen.getByText('no rank prints its own')).toBeTruthy();
});

it('says why there is no job, and which right is missing', async () => {
  serve({ missing: [{ verb: 'list', resource: 'mpijobs.kubeflow.org', namespace: 'kubeflow' }] }, []);
  renderAt('/', '/', () => <JobTab run={run('Succeeded')} search={{}} onShow={() => undefined} />);
  expect(await screen.findByText(/no distributed job of this run any more/)).toBeTruthy();
  expect(screen.getByRole('alert').textContent).toContain('list mpijobs.kubeflow.org in namespace kubeflow');
});

const events = [
  {
    kind: 'Pod',
    name: 'p-1',
    node_id: 'n',
    step_name: 'train',
    type: 'Warning',
    reason: 'BackOff',
    message: 'it keeps failing',
    count: 7,
    source: 'kubelet',
    first_at: '2026-11-20T12:00:00Z',
    last_at: '2026-11-20T12:05:00Z',
  },
  { kind: 'Workflow', name: 'wf', type: 'Normal', reason: 'WorkflowRunning', message: 'Workflow Running', count: 1 },
];

it('shows events with warnings marked, and only those when the URL says so', async () => {
  server.use(http.get('*/apis/argosy/v1/runs/r1/cluster-events', () => HttpResponse.json({ events })));
  const onShow = vi.fn();
  const onShowStep = vi.fn();
  const props = { run: run('Running'), onShow, onShowStep };
  renderAt('/', '/', () => <EventsTab {...props} search={{ q: 'fail' }} />);
  const row = within(await screen.findByRole('row', { name: /BackOff/ }));
  expect(row.getByText('7')).toBeTruthy();
  expect(row.getByText('Pod p-1 · kubelet')).toBeTruthy();
  expect(screen.queryByRole('row', { name: /WorkflowRunning/ })).toBeNull();
  expect(screen.getByText('1 of 2 events')).toBeTruthy();
  await userEvent.click(screen.getByRole('checkbox', { name: '1 warning' }));
  expect(onShow).toHaveBeenCalledWith({ only: 'warnings' });
  await userEvent.click(row.getByRole('button', { name: 'train' }));
  expect(onShowStep).toHaveBeenCalledWith('n');
});

it('says that the cluster keeps events for an hour when there are none', async () => {
  server.use(http.get('*/apis/argosy/v1/runs/r1/cluster-events', () => HttpResponse.json({})));
  renderAt('/', '/', () => (
    <EventsTab run={run('Succeeded')} search={{}} onShow={() => undefined} onShowStep={() => undefined} />
  ));
  expect(await screen.findByText(/It keeps events for an hour only/)).toBeTruthy();
});
