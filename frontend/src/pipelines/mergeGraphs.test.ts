import { expect, it } from 'vitest';
import { mergeGraphs } from './mergeGraphs';

const node = (id: string, template = id) => ({
  id,
  name: id.split('/').at(-1),
  type: 'Container',
  template,
  parent: id.includes('/') ? id.slice(0, id.lastIndexOf('/')) : undefined,
});

it('draws the steps and ways of both graphs, and marks what became of them', () => {
  const from = {
    nodes: [node('load'), node('clean'), node('sweep'), node('sweep/fit'), node('end')],
    edges: [
      { from: 'load', to: 'clean' },
      { from: 'clean', to: 'sweep' },
      { from: 'sweep', to: 'end' },
    ],
  };
  const to = {
    nodes: [node('load'), node('sweep'), node('sweep/fit'), node('test'), node('end')],
    edges: [
      { from: 'load', to: 'sweep' },
      { from: 'sweep', to: 'end' },
      { from: 'sweep', to: 'test' },
    ],
  };
  const graph = mergeGraphs(from, to, [
    { step: 'sweep/fit', path: 'container.args[1]', from: '1', to: '2' },
    { step: 'test', path: '', to: '{}' },
    { step: 'clean', path: '', from: '{}' },
    { path: 'parameters[lr]', from: '1', to: '2' },
  ]);
  expect(Object.fromEntries(graph.steps.map(({ id, change }) => [id, change]))).toEqual({
    load: undefined,
    clean: 'removed',
    sweep: 'changed', // by what it holds
    'sweep/fit': 'changed',
    test: 'added',
    end: undefined,
  });
  const ways = graph.edges.map(({ from, to }) => `${from} ${to}`);
  expect(ways).toEqual(expect.arrayContaining(['load clean', 'clean sweep', 'load sweep', 'sweep sweep/fit']));
});

it('marks every step of a template that changed, and a change of the task alone once', () => {
  const graph = { nodes: [node('a', 'train'), node('b', 'train'), node('c', 'other'), node('d', 'other')] };
  const changes = [
    { step: 'a', path: 'container.image', from: '"x"', to: '"y"' },
    { step: 'c', path: 'task.when', to: '"x"' },
  ];
  expect(mergeGraphs(graph, graph, changes).steps.map(({ change }) => change)).toEqual([
    'changed',
    'changed',
    'changed',
    undefined,
  ]);
});
