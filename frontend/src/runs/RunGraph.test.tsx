import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import { StackLine } from '../graph/StackLine';
import type { StepGraphProps } from '../graph/StepGraph';
import { renderAt } from '../test/render';
import { RunGraph } from './RunGraph';
import type { RunSearch } from './runSearch';

// What is drawn needs a layout, which there is none of here.
vi.mock('../graph/LazyStepGraph', () => ({
  LazyStepGraph: ({ graph, onToggle }: StepGraphProps) => (
    <>
      <p>drawn: {graph.steps.length}</p>
      {graph.steps.map((step) => step.stack && <StackLine key={step.id} stack={step.stack} />)}
      <button type="button" onClick={() => onToggle?.('loop')}>
        toggle
      </button>
    </>
  ),
}));

const run = (steps: number) =>
  ({
    id: 'r',
    name: 'r',
    status: 'Running',
    nodes: Array.from({ length: steps }, (_, i) => ({ id: `n${i}`, name: `n${i}`, type: 'Pod', phase: 'Running' })),
  }) as Run;

function show(steps: number, draw?: true) {
  const onShow = vi.fn();
  renderAt('/', '/', () => (
    <RunGraph run={run(steps)} search={{ draw }} onShow={onShow} selected={undefined} onSelect={() => undefined} />
  ));
  return onShow;
}

it('offers the table first for more than 2,000 steps, and draws them when asked', async () => {
  const onShow = show(2001);
  expect(await screen.findByText(/This run has 2,001 steps/)).toBeTruthy();
  expect(screen.getByRole('table')).toBeTruthy();
  expect(screen.queryByText(/^drawn/)).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Draw the graph' }));
  expect(onShow).toHaveBeenCalledWith({ draw: true });
});

it('draws 2,000 steps, and more for a reader who asked', async () => {
  show(2000);
  expect(await screen.findByText('drawn: 2000')).toBeTruthy();
  show(2001, true);
  expect(await screen.findByText('drawn: 2001')).toBeTruthy();
});

const passes = Array.from({ length: 3000 }, (_, i) => `loop(${i}:${i})`);
const looping = {
  id: 'r',
  name: 'r',
  status: 'Running',
  nodes: [
    { id: 'loop', name: 'loop', type: 'TaskGroup', phase: 'Running', children: passes },
    ...passes.map((id, i) => ({ id, name: id, type: 'Pod', phase: i < 2 ? 'Failed' : 'Running' })),
  ],
} as Run;

function showLoop(search: RunSearch) {
  const onShow = vi.fn();
  renderAt('/', '/', () => (
    <RunGraph run={looping} search={search} onShow={onShow} selected={passes[0]} onSelect={() => undefined} />
  ));
  return onShow;
}

it('draws a large loop as one step with its states, and the address says that it is open', async () => {
  const onShow = showLoop({});
  expect(await screen.findByText('drawn: 1')).toBeTruthy();
  expect(screen.getByText('loop of 3,000 passes, 2 Failed, 2,998 Running, holds the chosen step')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'toggle' }));
  expect(onShow).toHaveBeenCalledWith({ opened: ['loop'] });
});

it('says how many matches closed groups hide, and opens these groups', async () => {
  const onShow = showLoop({ q: '299' });
  expect(await screen.findByText('13 matches are in closed groups.')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Open them' }));
  expect(onShow).toHaveBeenCalledWith({ opened: ['loop'] });
  await userEvent.click(screen.getByRole('button', { name: 'Close all groups' }));
  expect(onShow).toHaveBeenCalledWith({ closed: ['all'], opened: undefined });
});

it('offers the table first when the loop is open', async () => {
  showLoop({ opened: ['loop'] });
  expect(await screen.findByText(/This run has 3,001 steps/)).toBeTruthy();
});
