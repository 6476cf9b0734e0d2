import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { formatAmount, formatAmounts, shortName, totals } from './amount';
import { ClusterPage } from './ClusterPage';

const gib = 2 ** 30;

const node = (name: string, rest: object = {}) => ({
  name,
  ready: true,
  schedulable: true,
  resources: [
    { resource: 'cpu', capacity: 8, allocatable: 8, requested: 6, free: 2 },
    { resource: 'memory', capacity: 32 * gib, allocatable: 30 * gib, requested: 12 * gib, free: 18 * gib },
    { resource: 'nvidia.com/gpu', capacity: 4, allocatable: 4, requested: 4 },
    { resource: 'pods', capacity: 110, allocatable: 110, requested: 3, free: 107 },
    { resource: 'ephemeral-storage', capacity: gib, allocatable: gib, free: gib },
  ],
  holders: [
    {
      run_id: 'r1',
      run_name: 'resnet',
      pods: 2,
      requested: [
        { resource: 'cpu', value: 5 },
        { resource: 'pods', value: 2 },
      ],
    },
    { namespace: 'kube-system', pods: 1, requested: [{ resource: 'cpu', value: 1 }] },
  ],
  ...rest,
});

function answer(cluster: object) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/cluster', () => {
      asked();
      return HttpResponse.json(cluster);
    }),
  );
  return asked;
}

it('shows what nodes have, what is free, and who holds the rest, with one request', async () => {
  const asked = answer({
    nodes: [
      node('big'),
      node('down', { ready: false, message: 'the kubelet stopped', holders: [], taints: ['gpu=only:NoSchedule'] }),
    ],
    waiting: [{ run_id: 'r2', run_name: 'queued', pods: 3, requested: [{ resource: 'cpu', value: 9 }] }],
    queues: [
      {
        name: 'default',
        weight: 3,
        state: 'Open',
        running: 1,
        resources: [
          { resource: 'cpu', capability: 6, allocated: 5 },
          { resource: 'memory', allocated: gib },
        ],
        waiting: [
          {
            namespace: 'kubeflow',
            name: 'gang',
            run_id: 'r2',
            run_name: 'queued',
            min_available: 3,
            message: '2/3 tasks unschedulable',
            requested: [{ resource: 'cpu', value: 9 }],
          },
        ],
      },
    ],
  });
  const router = renderAt('/cluster', '/cluster', ClusterPage);
  const whole = await screen.findByLabelText('The whole cluster');
  expect(whole.textContent).toContain('12 / 16');
  expect(whole.textContent).toContain('2 free'); // not that of the node that is down
  expect(whole.textContent).not.toContain('ephemeral');

  const nodes = within(screen.getByRole('region', { name: 'Nodes' }));
  const big = within(nodes.getByRole('row', { name: /big/ }));
  expect(big.getByRole('link', { name: 'resnet' }).getAttribute('href')).toBe('/runs/r1');
  expect(big.getByText('2 pods · 5 CPU')).toBeTruthy();
  expect(big.getByText('namespace kube-system')).toBeTruthy();
  expect(
    big.getByRole('img', { name: 'Pods ask for 12 GiB of 30 GiB; 18 GiB is free. The node has 32 GiB.' }),
  ).toBeTruthy();
  const down = within(nodes.getByRole('row', { name: /down/ }));
  expect(down.getByText('Not ready')).toBeTruthy();
  expect(down.getByText('the kubelet stopped')).toBeTruthy();
  expect(down.getByText('gpu=only:NoSchedule')).toBeTruthy();
  expect(down.getByText('nobody')).toBeTruthy();

  expect(screen.getByRole('region', { name: 'Pods without a node' }).textContent).toContain('queued3 pods · 9 CPU');
  const queues = within(screen.getByRole('region', { name: 'Queues' }));
  expect(queues.getByText('at most 6')).toBeTruthy();
  expect(queues.getByRole('img', { name: 'CPU: 5 · at most 6' })).toBeTruthy();
  expect(queues.getByText('no limit')).toBeTruthy();
  expect(queues.getByText('2/3 tasks unschedulable')).toBeTruthy();
  expect(asked).toHaveBeenCalledTimes(1);

  await userEvent.type(nodes.getByRole('searchbox'), 'resn');
  await waitFor(() => expect(router.state.location.search).toEqual({ q: 'resn' }));
  expect(screen.queryByRole('row', { name: /down/ })).toBeNull();
});

it('says which rights are missing, and that a cluster has no nodes', async () => {
  answer({
    missing: [
      { verb: 'list', resource: 'nodes' },
      { verb: 'list', resource: 'pods', namespace: 'kubeflow' },
    ],
  });
  renderAt('/cluster', '/cluster', ClusterPage);
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('list nodes in the whole cluster');
  expect(alert.textContent).toContain('list pods in namespace kubeflow');
  expect(screen.queryByText('The cluster has no nodes')).toBeNull();
});

it('teaches when there are no nodes, and shows errors in the words of the server', async () => {
  answer({});
  renderAt('/cluster', '/cluster', ClusterPage);
  expect(await screen.findByText('The cluster has no nodes')).toBeTruthy();
});

it('writes amounts as people read them', () => {
  expect(formatAmount('memory', 1.5 * gib, 'en')).toBe('1.5 GiB');
  expect(formatAmount('memory', 31.4 * gib, 'en')).toBe('31 GiB');
  expect(formatAmount('cpu', 0.125, 'en')).toBe('0.13');
  expect([shortName('nvidia.com/gpu'), shortName('rdma/hca'), shortName('cpu')]).toEqual(['GPU', 'hca', 'CPU']);
  expect(
    formatAmounts(
      [
        { resource: 'cpu', value: 2 },
        { resource: 'memory', value: gib },
        { resource: 'pods', value: 2 },
      ],
      'en',
    ),
  ).toBe('2 CPU, 1 GiB');
  expect(totals({ nodes: [node('a'), node('b', { schedulable: false })] })[0]).toMatchObject({
    allocatable: 16,
    free: 2,
  });
});
