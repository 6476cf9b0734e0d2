import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { StackLine } from '../graph/StackLine';
import type { StepGraphProps } from '../graph/StepGraph';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { PipelineGraph } from './PipelineGraph';
import { type PipelineSearch, readPipelineSearch } from './pipelineSearch';

// What is drawn needs a layout, which there is none of here.
vi.mock('../graph/LazyStepGraph', () => ({
  LazyStepGraph: ({ graph, selected, found, onSelect, onToggle }: StepGraphProps) => (
    <ul aria-label={`drawn, chosen: ${selected}`}>
      {graph.steps.map((step) => (
        <li key={step.id} data-faint={found && !found.has(step.id)}>
          <button type="button" onClick={() => (step.stack ? onToggle?.(step.id) : onSelect(step.id))}>
            {step.id}
          </button>
          {step.stack && <StackLine stack={step.stack} when={step.when} />}
        </li>
      ))}
    </ul>
  ),
}));

const condition = '{{inputs.parameters.best}} > 0.9';
const graph = {
  nodes: [
    { id: 'read', name: 'read', type: 'Container', template: 'read' },
    { id: 'each', name: 'each', type: 'DAG', template: 'each', loop: true, when: condition },
    { id: 'each/fit', name: 'fit', type: 'MPIJob', template: 'fit', parent: 'each' },
    { id: 'each/test', name: 'test', type: 'Container', template: 'test', parent: 'each', when: 'true', loop: true },
  ],
  edges: [
    { from: 'read', to: 'each' },
    { from: 'each/fit', to: 'each/test' },
  ],
};
const template = 'spec: {templates: [{name: test, container: {image: i, command: [a]}}]}';

function show(search: PipelineSearch) {
  server.use(
    http.get('*/apis/argosy/v1/pipelines/p/graph', () => HttpResponse.json(graph)),
    http.get('*/apis/v1beta1/pipelines/p/templates', () => HttpResponse.json({ template })),
  );
  const onShow = vi.fn();
  renderAt('/', '/', () => <PipelineGraph pipelineID="p" versionID={undefined} search={search} onShow={onShow} />);
  return onShow;
}

const drawn = async () => (await screen.findAllByRole('listitem')).map((item) => within(item).getByRole('button'));

it('opens and closes groups, which say how many steps they have and under which condition these run', async () => {
  const onShow = show({});
  expect((await drawn()).map((card) => card.textContent)).toEqual(['read', 'each', 'each/fit', 'each/test']);
  expect(screen.getByText(`loop over 2 steps, only when ${condition}`)).toBeTruthy();
  expect(screen.getByText('loop · conditional')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'each' }));
  expect(onShow).toHaveBeenCalledWith({ closed: ['each'], opened: undefined });
  await userEvent.click(screen.getByRole('button', { name: 'each/fit' }));
  expect(onShow).toHaveBeenLastCalledWith({ step: 'each/fit' });
});

it('finds names and paths, and counts what closed groups hide', async () => {
  const onShow = show({ q: 'fit+', closed: ['all'] });
  expect((await drawn()).map((card) => card.textContent)).toEqual(['read', 'each']);
  expect(screen.getByText('2 matches are in closed groups.')).toBeTruthy();
  expect(screen.getByText(/^loop over 2 steps, .*, 2 matches$/)).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Open them' }));
  expect(onShow).toHaveBeenCalledWith({ opened: ['each'], closed: ['all'] });
  expect(screen.queryByRole('checkbox')).toBeNull();
});

it('shows the group that hides the chosen step, and beside it when that step runs', async () => {
  const onShow = show({ step: 'each/test', closed: ['each'] });
  expect(await screen.findByRole('list', { name: 'drawn, chosen: each' })).toBeTruthy();
  const panel = await screen.findByRole('region', { name: /test/ });
  expect(await within(panel).findByText('once per item', { selector: 'dd' })).toBeTruthy();
  expect(within(panel).getByText('true')).toBeTruthy();
  expect(within(panel).getByText(condition)).toBeTruthy();
  await userEvent.click(within(panel).getByRole('button', { name: 'each' }));
  expect(onShow).toHaveBeenCalledWith({ step: 'each' });
});

it('reads what the address says about the graph', () => {
  expect(readPipelineSearch({ q: '+fit', opened: 'a', closed: ['b', 'c'], step: '', tab: 'graph' })).toEqual({
    q: '+fit',
    opened: ['a'],
    closed: ['b', 'c'],
    tab: 'graph',
  });
});
