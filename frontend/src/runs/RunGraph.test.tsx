import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import { renderAt } from '../test/render';
import { RunGraph } from './RunGraph';

// What is drawn needs a layout, which there is none of here.
vi.mock('../graph/LazyStepGraph', () => ({
  LazyStepGraph: ({ graph }: { graph: { steps: object[] } }) => <p>drawn: {graph.steps.length}</p>,
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
