import { cleanup, screen, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { expect, it } from 'vitest';
import type { Run, RunNode } from '../api/client';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { FailureBanner } from './FailureBanner';
import { MetricsCard } from './MetricsCard';
import { NodePanel } from './NodePanel';
import { StepsTable } from './StepsTable';
import { WaitingNote } from './WaitingNote';

const run = (rest: object) => ({ id: 'r1', name: 'r1', status: 'Succeeded', ...rest }) as Run;

it('shows each metric with its step and the value as the reader writes numbers', async () => {
  const measured = run({
    nodes: [{ id: 'n1', display_name: 'all-reduce' }],
    metrics: [{ name: 'images/sec', node_id: 'n1', value: 1146.2 }],
  });
  renderAt('/', '/', () => <MetricsCard run={measured} />);
  const row = within(await screen.findByRole('region', { name: 'Metrics' })).getByRole('row', { name: /images\/sec/ });
  expect(row.textContent).toBe('images/secall-reduce1,146.2');
});

it('says that there are no metrics, and whether some may come', async () => {
  renderAt('/', '/', () => <MetricsCard run={run({ status: 'Running' })} />);
  expect(await screen.findByText(/No metrics yet/)).toBeTruthy();
});

it('says which step failed, why, with what exit code, and what it printed last', async () => {
  const log = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join('\n');
  server.use(http.get('*/apis/argosy/v1/runs/r1/nodes/n2/log', () => HttpResponse.text(`${log}\n`)));
  const failed = run({
    status: 'Failed',
    error: 'child n2 failed',
    nodes: [
      { id: 'n1', display_name: 'root', type: 'DAG', phase: 'Failed' },
      {
        id: 'n2',
        display_name: 'train',
        type: 'Pod',
        phase: 'Failed',
        exit_code: '7',
        message: 'command exited with code 7',
      },
    ],
  });
  renderAt('/', '/', () => <FailureBanner run={failed} onShowLog={() => undefined} />);
  expect(await screen.findByRole('heading', { name: 'Step “train” failed with exit code 7' })).toBeTruthy();
  expect(screen.getByText('command exited with code 7')).toBeTruthy();
  expect(screen.getByText('child n2 failed')).toBeTruthy();
  const tail = await screen.findByRole('region', { name: 'Last lines of its log' });
  expect(tail.textContent).toContain('line 40');
  expect(tail.textContent).not.toContain('line 28\n');
});

it('takes the last lines from the message of the step when a launcher put them there', async () => {
  const message = 'MPIJob a-1 failed: command exited with code 2\nusage: x\nerror: no such optimizer\n';
  const failed = run({
    status: 'Failed',
    nodes: [{ id: 'n2', display_name: 'train', type: 'Pod', phase: 'Failed', exit_code: '2', message }],
  });
  renderAt('/', '/', () => <FailureBanner run={failed} onShowLog={() => undefined} />);
  expect(await screen.findByText('MPIJob a-1 failed: command exited with code 2')).toBeTruthy();
  const tail = screen.getByRole('region', { name: 'Last lines of its log' });
  expect(tail.textContent).toBe('usage: x\nerror: no such optimizer');
});

it('says what a step waits for beside it, in its panel and at the head, and stops when it runs', async () => {
  const waiting = 'secret "token" not found: create it in namespace kubeflow, and the step goes on';
  const node = {
    id: 'n1',
    name: 'w.train',
    display_name: 'train',
    type: 'Pod',
    phase: 'Pending',
    message: 'x',
    waiting,
  };
  const ignore = () => undefined;
  const page = (nodes: RunNode[]) => () => {
    const shown = run({ status: 'Running', nodes });
    return (
      <>
        <WaitingNote run={shown} onShowStep={ignore} />
        <StepsTable run={shown} selected={undefined} onSelect={ignore} />
        <NodePanel run={shown} node={nodes[0] as RunNode} tab="log" onTab={ignore} onClose={ignore} />
      </>
    );
  };
  renderAt('/', '/', page([node]));
  expect(await screen.findByText(`Step “train” waits: ${waiting}`)).toBeTruthy();
  expect(within(screen.getByRole('row', { name: /train/ })).getByText(waiting)).toBeTruthy();
  const panel = screen.getByRole('region', { name: 'Step train' });
  expect(within(panel).getByText(`It waits: ${waiting}`)).toBeTruthy();
  expect(within(panel).queryByText(/The cluster says/)).toBeNull();
  cleanup();
  renderAt('/', '/', page([{ ...node, phase: 'Succeeded', waiting: undefined, message: '' }]));
  expect(await screen.findByRole('region', { name: 'Step train' })).toBeTruthy();
  expect(screen.queryByText(/waits/)).toBeNull();
});
