import { describe, expect, it } from 'vitest';
import type { RunNode } from '../api/client';
import { place } from './layout';
import { pipelineSteps, runSteps } from './model';

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
    const at = Object.fromEntries(place(graph).map(({ id, x, y }) => [id, { x, y }]));
    expect(at.b?.y).toBeGreaterThan(at.a?.y ?? 0);
    expect(at.b?.y).toBe(at.c?.y);
    expect(at.b?.x).not.toBe(at.c?.x);
  });
});
