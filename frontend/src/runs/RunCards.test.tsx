import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { useState } from 'react';
import { expect, it, vi } from 'vitest';
import type { Run, RunNode } from '../api/client';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { FailureBanner } from './FailureBanner';
import { MetricsCard } from './MetricsCard';
import { NodeLogs } from './NodeLogs';
import { NodePanel } from './NodePanel';
import { RunSummary } from './RunSummary';
import type { RunSearch } from './runSearch';
import { StepsTable } from './StepsTable';
import { WaitingNote } from './WaitingNote';

const run = (rest: object) => ({ id: 'r1', name: 'r1', status: 'Succeeded', ...rest }) as Run;

it('shows each metric with its step, the item of its loop, and the value as the reader writes numbers', async () => {
  const measured = run({
    nodes: [
      { id: 'pass', name: 'pass', display_name: 'for-loop-1(0:0.1)', type: 'DAG' },
      { id: 'n1', name: 'n1', display_name: 'train', boundary_id: 'pass', type: 'Pod' },
    ],
    metrics: [{ name: 'images/sec', node_id: 'n1', value: 1146.2 }],
  });
  renderAt('/', '/', () => <MetricsCard run={measured} onShowAll={() => undefined} />);
  const row = within(await screen.findByRole('region', { name: 'Metrics' })).getByRole('listitem');
  expect(row.textContent).toBe('images/sec train(0:0.1)1,146.2');
});

it('shows how fast a run is while it goes on, and its speed first among what it measured', async () => {
  const series = (rank: number, value: number) => ({
    node_id: 'n1',
    name: 'images/sec',
    rank,
    points: [{ step: '1', value }],
  });
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/metrics', () => HttpResponse.json({ series: [series(0, 0), series(1, 0)] })),
    http.get('*/apis/argosy/v1/runs/r1/metrics/:name/series', () =>
      HttpResponse.json({ series: [series(0, 1200), series(1, 1000)] }),
    ),
  );
  const goes = run({
    status: 'Running',
    nodes: [{ id: 'n1', name: 'n1', display_name: 'train', type: 'Pod', phase: 'Running' }],
    metrics: ['accuracy', 'images/sec'].map((name) => ({ name, node_id: 'n1', value: 1 })),
  });
  const page = (shown: Run) => () => (
    <>
      <RunSummary run={shown} />
      <MetricsCard run={shown} onShowAll={() => undefined} />
    </>
  );
  renderAt('/', '/', page(goes));
  const speed = await screen.findByText('images/sec now');
  expect(speed.nextElementSibling?.textContent).toBe('1,100 mean of 2 ranks');
  const items = within(screen.getByRole('region', { name: 'Metrics' })).getAllByRole('listitem');
  expect(items.map((item) => item.textContent)).toEqual(['images/sec train1', 'accuracy train1']);
  cleanup();
  renderAt('/', '/', page({ ...goes, status: 'Succeeded' }));
  expect(await screen.findByRole('region', { name: 'Metrics' })).toBeTruthy();
  expect(screen.queryByText('images/sec now')).toBeNull();
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
  renderAt('/', '/', () => <FailureBanner run={failed} onShowLog={() => undefined} onRetried={() => undefined} />);
  expect(await screen.findByRole('heading', { name: 'Step “train” failed with exit code 7' })).toBeTruthy();
  expect(screen.getByText('command exited with code 7')).toBeTruthy();
  expect(screen.getByText('child n2 failed')).toBeTruthy();
  const tail = await screen.findByRole('region', { name: 'Last lines of its log' });
  expect(tail.textContent).toContain('line 40');
  expect(tail.textContent).not.toContain('line 28\n');
});

it('offers a retry of what failed, and one from the failed step with other parameters', async () => {
  const bodies: object[] = [];
  server.use(
    http.post('*/apis/argosy/v1/runs/r1\\:retry', async ({ request }) => {
      bodies.push((await request.json()) as object);
      return HttpResponse.json({ again: ['n2'], attempt: '2' });
    }),
  );
  const failed = run({
    status: 'Failed',
    parameters: [{ name: 'lr', value: '0.1' }],
    nodes: [{ id: 'n2', display_name: 'train', type: 'Pod', phase: 'Failed', message: 'x\ny' }],
  });
  renderAt('/', '/', () => <FailureBanner run={failed} onShowLog={() => undefined} onRetried={() => undefined} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Retry from here with other parameters' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Retry from step “train”' }));
  expect(await dialog.findByLabelText('lr')).toHaveProperty('value', '0.1');
  await userEvent.click(dialog.getByRole('button', { name: 'Cancel' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }));
  const whole = within(await screen.findByRole('dialog', { name: 'Retry this run' }));
  await userEvent.click(await whole.findByRole('button', { name: 'Retry' }));
  await waitFor(() => expect(bodies.at(-1)).toEqual({ parameters: [], dry_run: false }));
});

it('takes the last lines from the message of the step when a launcher put them there', async () => {
  const message = 'MPIJob a-1 failed: command exited with code 2\nusage: x\nerror: no such optimizer\n';
  const failed = run({
    status: 'Failed',
    nodes: [{ id: 'n2', display_name: 'train', type: 'Pod', phase: 'Failed', exit_code: '2', message }],
  });
  renderAt('/', '/', () => <FailureBanner run={failed} onShowLog={() => undefined} onRetried={() => undefined} />);
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
  const onShow = vi.fn();
  const onShowWhy = vi.fn();
  const page = (nodes: RunNode[]) => () => {
    const shown = run({ status: 'Running', nodes });
    return (
      <>
        <WaitingNote run={shown} onShowWhy={onShowWhy} />
        <StepsTable run={shown} search={{}} selected={undefined} onSelect={ignore} onShow={ignore} />
        <NodePanel
          run={shown}
          node={nodes[0] as RunNode}
          search={{}}
          onShow={onShow}
          onClose={ignore}
          onRetried={ignore}
        />
      </>
    );
  };
  renderAt('/', '/', page([node]));
  expect(await screen.findByText(`Step “train” waits: ${waiting}`)).toBeTruthy();
  expect(within(screen.getByRole('row', { name: /train/ })).getByText(waiting)).toBeTruthy();
  const panel = screen.getByRole('region', { name: 'Step train' });
  expect(within(panel).getByText(`It waits: ${waiting}`)).toBeTruthy();
  expect(within(panel).queryByText(/The cluster says/)).toBeNull();
  await userEvent.click(within(panel).getByRole('button', { name: 'Why it waits' }));
  expect(onShow).toHaveBeenCalledWith({ panel: 'waits' });
  expect(within(panel).getByRole('tab', { name: 'Why it waits' })).toBeTruthy();
  const head = within(screen.getByText(`Step “train” waits: ${waiting}`).parentElement as HTMLElement);
  await userEvent.click(head.getByRole('button', { name: 'Why it waits' }));
  expect(onShowWhy).toHaveBeenCalledWith('n1');
  cleanup();
  renderAt('/', '/', page([{ ...node, phase: 'Succeeded', waiting: undefined, message: '' }]));
  expect(await screen.findByRole('region', { name: 'Step train' })).toBeTruthy();
  expect(screen.queryByText(/waits/)).toBeNull();
});

it('says in words what an exit code means, what to do, and what else failed', async () => {
  const pod = (id: string, phase: string, rest: object = {}) => ({
    id,
    name: id,
    display_name: id,
    type: 'Pod',
    phase,
    ...rest,
  });
  const failed = run({
    status: 'Failed',
    nodes: [
      pod('late', 'Failed', { finished_at: '2026-01-01T00:00:09Z', exit_code: '1' }),
      pod('train', 'Failed', {
        finished_at: '2026-01-01T00:00:01Z',
        exit_code: '137',
        message: 'OOMKilled\nlast line',
      }),
      pod('after', 'Omitted'),
    ],
  });
  renderAt('/', '/', () => <FailureBanner run={failed} onShowLog={() => undefined} onRetried={() => undefined} />);
  expect(await screen.findByRole('heading', { name: 'Step “train” failed with exit code 137' })).toBeTruthy();
  expect(screen.getByText('It ran out of memory.')).toBeTruthy();
  expect(screen.getByText(/Give it more memory/)).toBeTruthy();
  expect(screen.getByText('1 other step failed:')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'late' })).toBeTruthy();
  expect(screen.getByText('1 step did not run because of it.')).toBeTruthy();
});

it.each([
  ['Suspend', 'Running', /^A Suspend waits for a set time, or until someone resumes the run/],
  ['HTTP', 'Succeeded', /^An HTTP step sends one request .* Its outputs hold the answer/],
  ['Plugin', 'Running', /^A plugin of the workflow engine runs this step/],
  ['Container', 'Running', /^This is one container of a step with several/],
  ['Skipped', 'Skipped', /^The step did not run/],
  ['TaskGroup', 'Running', /groups other steps and prints nothing itself/],
])('says what is true of a %s, which has no log', async (type, phase, says) => {
  const node = { id: 'n1', name: 'n1', display_name: 'one', type, phase } as RunNode;
  renderAt('/', '/', () => (
    <NodePanel
      run={run({ nodes: [node] })}
      node={node}
      search={{}}
      onShow={() => undefined}
      onClose={() => undefined}
      onRetried={() => undefined}
    />
  ));
  expect(await screen.findByText(says)).toBeTruthy();
});

/** A step with many ranks, and what is asked of its logs. */
function ranks(count: number) {
  const node = {
    id: 'n1',
    name: 'n1',
    display_name: 'train',
    type: 'Pod',
    phase: 'Running',
    has_log: true,
  } as RunNode;
  const log = (pod: string, container: string, rest: object = {}) => ({
    node_id: 'n1',
    attempt: 1,
    pod,
    container,
    restart: 0,
    ...rest,
  });
  const asked: string[] = [];
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/nodes/n1/logs', () =>
      HttpResponse.json({
        logs: [
          log('p', 'main'),
          ...Array.from({ length: count }, (_, rank) => log(`w${rank}`, 'worker', { role: 'worker', rank })),
          log('cut', 'worker', { role: 'worker', rank: count, state: 'cut', message: 'its pod was deleted' }),
        ],
      }),
    ),
    http.get(/\/nodes\/n1\/log(:.*)?$/, ({ request }) => {
      const { pathname, searchParams } = new URL(request.url);
      asked.push(
        `${pathname.slice(pathname.lastIndexOf('/'))} ${searchParams.has('ranks') ? 'ranks' : searchParams.getAll('log').length}`,
      );
      const lines = [{ log: log('w0', 'worker') }, { of: 0, n: 1, text: 'hello' }];
      // It goes on: the step does.
      return new HttpResponse(
        new ReadableStream({
          start: (more) =>
            more.enqueue(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))),
        }),
      );
    }),
  );
  return { node, asked };
}

it('offers the logs of all pods of a step, names those that are cut, and asks once for however many are chosen', async () => {
  const { node, asked } = ranks(50);
  const logs = [...Array.from({ length: 50 }, (_, rank) => `1/w${rank}/worker`), '1/cut/worker'];
  renderAt('/', '/', () => <NodeLogs run={run({})} node={node} search={{ logs }} onShow={() => undefined} />);
  expect(await screen.findByText('The log of worker 50 is not complete: its pod was deleted')).toBeTruthy();
  expect(await screen.findByText('1 line · Following the log')).toBeTruthy();
  expect(asked).toEqual(['/log:merge 51']);
});

it('chooses all ranks at once, in place of some', async () => {
  const { node, asked } = ranks(3);
  const onShow = vi.fn();
  function Page() {
    const [search, setSearch] = useState<RunSearch>({ logs: ['1/w0/worker', '1/w1/worker'] });
    const show = (patch: RunSearch) => {
      onShow(patch);
      setSearch((old) => ({ ...old, ...patch }));
    };
    return <NodeLogs run={run({})} node={node} search={search} onShow={show} />;
  }
  renderAt('/', '/', Page);
  await screen.findByText('1 line · Following the log');
  await userEvent.click(screen.getByRole('combobox', { name: 'Logs of this step' }));
  await userEvent.click(await screen.findByRole('option', { name: 'All ranks' }));
  expect(onShow).toHaveBeenLastCalledWith({ logs: ['all'] });
  await waitFor(() => expect(asked).toEqual(['/log:merge 2', '/log:merge ranks']));
  await userEvent.click(await screen.findByRole('option', { name: 'worker 2' }));
  expect(onShow).toHaveBeenLastCalledWith({ logs: ['1/w2/worker'] });
});
