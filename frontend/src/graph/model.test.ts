import { describe, expect, it } from 'vitest';
import type { RunNode } from '../api/client';
import { nodeHeight, nodeWidth, place } from './layout';
import { hideSucceeded, pipelineSteps, runSteps, stepLabels } from './model';

const node = (id: string, rest: Partial<RunNode> = {}): RunNode => ({
  id,
  name: id,
  type: 'Pod',
  boundary_id: 'root',
  ...rest,
});
const edge = (from: string, to: string) => ({ from, to });

describe('runSteps', () => {
  it('leaves the root out and keeps what waits for what', () => {
    const { steps, edges } = runSteps([
      node('root', { type: 'DAG', boundary_id: '', children: ['a'] }),
      node('a', { children: ['b', 'c'] }),
      node('b', { children: ['d'] }),
      node('c', { children: ['d'] }),
      node('d'),
    ]);
    expect(steps.map((step) => step.id)).toEqual(['a', 'b', 'c', 'd']);
    expect(edges).toEqual([edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')]);
  });

  it('joins the neighbours of step groups and of a retry that was not needed', () => {
    const { steps, edges } = runSteps([
      node('root', { type: 'Steps', boundary_id: '', children: ['g0'] }),
      node('g0', { type: 'StepGroup', children: ['r'] }),
      node('r', { type: 'Retry', children: ['r(0)'] }),
      node('r(0)', { children: ['g1'] }),
      node('g1', { type: 'StepGroup', children: ['z'] }),
      node('z'),
    ]);
    expect(steps.map((step) => step.id)).toEqual(['r(0)', 'z']);
    expect(edges).toEqual([edge('r(0)', 'z')]);
  });

  it('shows a retry with its attempts', () => {
    const { steps } = runSteps([node('r', { type: 'Retry', children: ['r(0)', 'r(1)'] }), node('r(0)'), node('r(1)')]);
    expect(steps).toHaveLength(3);
  });

  it('survives children that are not there, and circles', () => {
    const { edges } = runSteps([node('a', { children: ['gone', 'b'] }), node('b', { children: ['a'] })]);
    expect(edges).toEqual([edge('a', 'b'), edge('b', 'a')]);
  });
});

describe('place', () => {
  it('puts a step below those that it waits for', () => {
    const graph = pipelineSteps({
      nodes: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      edges: [edge('a', 'b'), edge('a', 'c')],
    });
    const at = Object.fromEntries(place(graph).steps.map(({ id, x, y }) => [id, { x, y }]));
    expect(at.b?.y).toBeGreaterThan(at.a?.y ?? 0);
    expect(at.b?.y).toBe(at.c?.y);
    expect(at.b?.x).not.toBe(at.c?.x);
  });

  it('leads an edge around the steps that it passes', () => {
    const graph = pipelineSteps({
      nodes: ['collect', 'features', 'fit', 'evaluate'].map((id) => ({ id })),
      edges: [
        edge('collect', 'features'),
        edge('features', 'fit'),
        edge('fit', 'evaluate'),
        edge('collect', 'evaluate'),
      ],
    });
    const { steps, ways } = place(graph);
    const way = ways.find(({ from, to }) => from === 'collect' && to === 'evaluate')?.points ?? [];
    expect(way.length).toBeGreaterThan(2);
    for (const id of ['features', 'fit']) {
      const box = steps.find((step) => step.id === id) ?? { x: 0, y: 0 };
      const beside = way.filter(({ y }) => y > box.y && y < box.y + nodeHeight);
      expect(beside.length, id).toBeGreaterThan(0);
      for (const { x } of beside) expect(x < box.x || x > box.x + nodeWidth, id).toBe(true);
    }
  });
});

describe('stepLabels', () => {
  it('tells the passes of a loop apart', () => {
    const labels = stepLabels([
      node('root', { type: 'DAG', boundary_id: '' }),
      node('pass', { type: 'DAG', display_name: 'for-loop-1(0:0.0001)' }),
      node('a', { display_name: 'train', boundary_id: 'pass' }),
      node('inner', { type: 'DAG', display_name: 'for-loop-2(3:{"x":"(y)"})', boundary_id: 'pass' }),
      node('b', { display_name: 'train', boundary_id: 'inner' }),
      node('c', { display_name: 'choose' }),
    ]);
    expect(['a', 'b', 'c'].map((id) => labels.get(id))).toEqual([
      'train(0:0.0001)',
      'train(0:0.0001)(3:{"x":"(y)"})',
      'choose',
    ]);
  });
  it('survives a circle', () => {
    expect(stepLabels([node('a', { boundary_id: 'b' }), node('b', { boundary_id: 'a' })]).get('a')).toBe('a');
  });
});

describe('hideSucceeded', () => {
  it('joins what is left', () => {
    const graph = runSteps([
      node('a', { phase: 'Failed', children: ['b'] }),
      node('b', { phase: 'Succeeded', children: ['c'] }),
      node('c', { phase: 'Running' }),
    ]);
    const { steps, edges } = hideSucceeded(graph);
    expect(steps.map((step) => step.id)).toEqual(['a', 'c']);
    expect(edges).toEqual([edge('a', 'c')]);
  });
});
