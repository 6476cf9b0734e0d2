import { screen, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import type { Run, RunNode } from '../api/client';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { holdersOf, placeInQueue } from './place';
import { WhyItWaits } from './WhyItWaits';

const run = { id: 'r1', name: 'r1', status: 'Running' } as Run;
const node = { id: 'n1', display_name: 'train', type: 'Pod', phase: 'Pending', waiting: 'no room' } as RunNode;
const cpu = (value: number) => [{ resource: 'cpu', value }];
const holder = (run_id: string, pods: number, value: number) => ({
  run_id,
  run_name: run_id,
  pods,
  requested: cpu(value),
});
const cluster = {
  nodes: [
    { name: 'a', holders: [holder('small', 1, 2), holder('big', 1, 3), { namespace: 'kube-system', pods: 1 }] },
    { name: 'b', holders: [holder('big', 2, 4), holder('r1', 1, 1)] },
  ],
  queues: [
    {
      name: 'q',
      waiting: [
        { name: 'older', run_id: 'r0', run_name: 'the older one', min_available: 2 },
        { name: 'train-1', run_id: 'r1', run_name: 'r1', min_available: 3 },
        { name: 'later', run_id: 'r2', run_name: 'r2' },
      ],
    },
  ],
};

/** Answers for the waiting step, and gives what counts how often the cluster was asked. */
function serve(pending: object[]) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/pending', () => HttpResponse.json({ pending })),
    http.get('*/apis/argosy/v1/cluster', () => {
      asked();
      return HttpResponse.json(cluster);
    }),
  );
  return asked;
}

it('says what is asked and free of each resource, who holds it, the place in the queue, since when and until when', async () => {
  serve([
    { node_id: 'other', cause: 'STARTING' },
    {
      node_id: 'n1',
      cause: 'GANG',
      since: '2026-11-20T10:00:00Z',
      until: '2026-11-20T12:30:00Z',
      until_by: 'PENDING_TIMEOUT',
      told_by: { kind: 'PodGroup', name: 'train-1' },
      pods: 3,
      resources: [
        { resource: 'memory', asked: 3 * 2 ** 30, largest_asked: 2 ** 30 },
        { resource: 'cpu', asked: 12, largest_asked: 4, free: 2, largest_free: 1.5, lacking: true },
      ],
    },
  ]);
  renderAt('/', '/', () => <WhyItWaits run={run} node={node} />);
  const card = within(await screen.findByRole('region', { name: 'Why it waits' }));
  const fact = (name: string) => card.getByText(name).nextElementSibling?.textContent;
  expect(fact('At most until')).toContain('(the job’s pending timeout)');
  expect(fact('Waits since')).toContain('2026');
  expect(fact('Pods that wait')).toBe('3');
  expect(fact('Told by')).toBe('PodGroup train-1');
  expect(await card.findByText('2 of 3 in q, by age')).toBeTruthy();
  expect(card.getByRole('link', { name: 'the older one' }).getAttribute('href')).toBe('/runs/r0');

  const rows = within(card.getByRole('table', { name: 'What the waiting pods ask for' })).getAllByRole('row');
  const cells = rows.map((row) => [...row.children].map((cell) => cell.textContent));
  expect(cells[1]?.slice(0, 4)).toEqual(['CPUtoo little', '12one pod: 4', '2', '1.5']);
  expect(cells[2]?.slice(0, 4)).toEqual(['Memory', '3 GiBone pod: 1 GiB', 'not known', 'not known']);
  const links = within(rows[1] as HTMLElement).getAllByRole('link');
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/runs/big', '/runs/small']);
  expect(within(rows[1] as HTMLElement).getByText('3 pods · 7 CPU')).toBeTruthy();
  expect(card.getByRole('link', { name: 'Nodes and queues' }).getAttribute('href')).toBe('/cluster');
});

it('leaves the cluster alone for a step that lacks no resource, and says that no limit is known', async () => {
  const asked = serve([{ node_id: 'n1', cause: 'SECRET_MISSING', since: '2026-11-20T10:00:00Z' }]);
  renderAt('/', '/', () => <WhyItWaits run={run} node={node} />);
  expect(await screen.findByText('SECRET_MISSING')).toBeTruthy();
  expect(screen.getByText('no limit is known')).toBeTruthy();
  expect(screen.queryByRole('table')).toBeNull();
  expect(asked).not.toHaveBeenCalled();
});

it('says so when the step is about to start', async () => {
  serve([]);
  renderAt('/', '/', () => <WhyItWaits run={run} node={node} />);
  expect(await screen.findByText(/about to start/)).toBeTruthy();
});

it('finds the gang of a step among several of its run', () => {
  const waiting = ['train-1', 'other', 'train-2'].map((name) => ({ name, run_id: 'r1' }));
  const placed = (name: string) => placeInQueue({ queues: [{ name: 'q', waiting }] }, 'r1', { told_by: { name } });
  expect(placed('train-2-worker-0')?.before).toHaveLength(2);
  expect(placed('elsewhere')).toBeUndefined();
  expect(holdersOf(cluster, 'memory')).toEqual([]);
});
