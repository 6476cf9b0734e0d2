import { describe, expect, it } from 'vitest';
import type { RunNode } from '../api/client';
import { findSteps } from './find';
import { fold, turned } from './fold';
import { groupSteps } from './groups';
import { nodeHeight, place } from './layout';

const node = (id: string, rest: Partial<RunNode> = {}): RunNode => ({
  id,
  name: id,
  type: 'Pod',
  phase: 'Succeeded',
  boundary_id: 'root',
  ...rest,
});

/** read, a loop named fit with so many passes of one step, and report, as Argo's controller writes them. */
function loop(count: number, phases: string[] = []): RunNode[] {
  const passes = Array.from({ length: count }, (_, i) => `fit(${i}:${i})`);
  return [
    node('root', { type: 'DAG', boundary_id: '', children: ['read'] }),
    node('read', { children: ['fit'] }),
    node('fit', { type: 'TaskGroup', phase: 'Running', children: passes }),
    ...passes.map((id, i) => node(id, { children: ['report'], phase: phases[i] ?? 'Succeeded' })),
    node('report', { phase: 'Pending' }),
  ];
}

const ids = ({ steps }: { steps: { id: string }[] }) => steps.map(({ id }) => id);
const edge = (from: string, to: string) => ({ from, to });

describe('a loop', () => {
  it('with more than twenty steps is one step, with its states and each of its edges once', () => {
    const folded = fold(groupSteps(loop(48, ['Failed', 'Running', 'Failed'])), {});
    expect(ids(folded)).toEqual(['read', 'fit', 'report']);
    expect(folded.edges).toEqual([edge('read', 'fit'), edge('fit', 'report')]);
    expect(folded.steps[1]?.stack).toEqual({
      kind: 'loop',
      open: false,
      size: 48,
      counts: [
        ['Failed', 2],
        ['Running', 1],
        ['Succeeded', 45],
      ],
      found: undefined,
      chosen: false,
    });
  });

  it('with fewer is open, and what follows it is no part of it', () => {
    const folded = fold(groupSteps(loop(2)), {});
    expect(ids(folded)).toEqual(['read', 'fit', 'fit(0:0)', 'fit(1:1)', 'report']);
    expect(folded.steps.map(({ group }) => group)).toEqual([undefined, undefined, 'fit', 'fit', undefined]);
  });

  it('shows each pass of one step as that step, and each of several as a group', () => {
    const graph = groupSteps([
      node('root', { type: 'DAG', boundary_id: '', children: ['loop'] }),
      node('loop', { type: 'TaskGroup', children: ['loop(0:a)', 'loop(1:b)'] }),
      node('loop(0:a)', { type: 'DAG', children: ['train0'] }),
      node('train0', { display_name: 'train', boundary_id: 'loop(0:a)' }),
      node('loop(1:b)', { type: 'DAG', children: ['train1'] }),
      node('train1', { display_name: 'train', boundary_id: 'loop(1:b)', children: ['test1'] }),
      node('test1', { display_name: 'test', boundary_id: 'loop(1:b)' }),
    ]);
    expect([...graph.groups.keys()]).toEqual(['loop', 'loop(1:b)']);
    const folded = fold(graph, { closed: ['loop(1:b)'] });
    expect(ids(folded)).toEqual(['loop', 'train0', 'loop(1:b)']);
    expect(folded.edges).toEqual([edge('loop', 'train0'), edge('loop', 'loop(1:b)')]);
    expect(folded.steps[2]?.stack).toMatchObject({ kind: 'pipeline', size: 2 });
    expect(fold(graph, { closed: ['loop'] }).steps[0]?.stack?.size).toBe(2);
  });

  it('of a template of steps has no node, and is made from the names of its passes', () => {
    const graph = groupSteps([
      node('root', { type: 'Steps', boundary_id: '', children: ['g0'] }),
      node('g0', { type: 'StepGroup', children: ['a'] }),
      node('a', { children: ['g1'] }),
      node('g1', { type: 'StepGroup', children: ['fit(0:x)', 'fit(1:y)', 'other'] }),
      node('fit(0:x)', { phase: 'Failed', children: ['g2'] }),
      node('fit(1:y)', { children: ['g2'] }),
      node('other', { children: ['g2'] }),
      node('g2', { type: 'StepGroup', children: ['z'] }),
      node('z'),
    ]);
    const closed = fold(graph, { closed: ['g1/fit'] });
    expect(closed.steps.find(({ id }) => id === 'g1/fit')).toMatchObject({ name: 'fit', phase: 'Failed' });
    expect(new Set(closed.edges)).toEqual(
      new Set([edge('a', 'g1/fit'), edge('a', 'other'), edge('g1/fit', 'z'), edge('other', 'z')]),
    );
    const open = fold(graph, {});
    expect(open.edges).toContainEqual(edge('a', 'g1/fit'));
    expect(open.edges).toContainEqual(edge('g1/fit', 'fit(0:x)'));
    expect(open.edges).not.toContainEqual(edge('a', 'fit(0:x)'));
  });

  it('counts a step that was retried once', () => {
    const graph = groupSteps([
      node('root', { type: 'DAG', boundary_id: '', children: ['fit'] }),
      node('fit', { type: 'TaskGroup', children: ['fit(0)', 'fit(1)'] }),
      node('fit(0)', { type: 'Retry', children: ['fit(0)(0)', 'fit(0)(1)'] }),
      node('fit(0)(0)', { phase: 'Failed' }),
      node('fit(0)(1)'),
      node('fit(1)'),
    ]);
    expect(fold(graph, { closed: ['fit'] }).steps).toHaveLength(1);
    expect(fold(graph, { closed: ['fit'] }).steps[0]?.stack?.counts).toEqual([['Succeeded', 2]]);
  });
});

describe('branches and sub-pipelines', () => {
  const graph = groupSteps([
    node('root', { type: 'DAG', boundary_id: '', children: ['condition-1'] }),
    node('condition-1', { type: 'DAG', children: ['sub'] }),
    node('sub', { type: 'DAG', boundary_id: 'condition-1', children: ['a'] }),
    node('a', { boundary_id: 'sub', children: ['b'] }),
    node('b', { boundary_id: 'sub', children: ['after'] }),
    node('after'),
  ]);

  it('collapse, one in another', () => {
    expect(ids(fold(graph, { closed: ['condition-1'] }))).toEqual(['condition-1', 'after']);
    const inner = fold(graph, { closed: ['sub'] });
    expect(inner.steps.map(({ id, group, stack }) => [id, group, stack?.kind])).toEqual([
      ['condition-1', undefined, 'branch'],
      ['sub', 'condition-1', 'pipeline'],
      ['after', undefined, undefined],
    ]);
    expect(inner.edges).toEqual([edge('condition-1', 'sub'), edge('sub', 'after')]);
  });

  it('hide the chosen step and those that are looked for, and say so', () => {
    const folded = fold(graph, { closed: ['condition-1', 'sub'] }, findSteps(graph, 'b'), 'a');
    expect(folded.shownAs('a')).toBe('condition-1');
    expect(folded.hiding).toEqual({ steps: 2, groups: ['condition-1', 'sub'] });
    expect(folded.steps[0]?.stack).toMatchObject({ found: 2, chosen: true });
  });

  it('survive circles', () => {
    const circle = groupSteps([
      node('a', { type: 'DAG', boundary_id: 'b' }),
      node('b', { type: 'DAG', boundary_id: 'a', children: ['a'] }),
    ]);
    expect(place(fold(circle, {})).steps.length).toBeGreaterThanOrEqual(0);
  });
});

describe('what the address keeps', () => {
  const { groups } = groupSteps(loop(48));
  const small = groupSteps(loop(2)).groups;
  it('is only what differs from how groups start', () => {
    expect(turned(groups, {}, ['fit'], true)).toEqual({ opened: ['fit'] });
    expect(turned(groups, { opened: ['fit'] }, ['fit'], false)).toEqual({});
    expect(turned(small, {}, ['fit'], false)).toEqual({ closed: ['fit'] });
    expect(turned(small, { closed: ['fit'] }, ['fit'], true)).toEqual({});
  });
  it('can be all groups but one', () => {
    expect(turned(groups, { opened: ['all'] }, ['fit'], false)).toEqual({ opened: ['all'], closed: ['fit'] });
    expect(ids(fold(groupSteps(loop(48)), { opened: ['all'] }))).toHaveLength(51);
    expect(ids(fold(groupSteps(loop(2)), { closed: ['all'] }))).toEqual(['read', 'fit', 'report']);
  });
});

describe('the places of groups', () => {
  it('keep what is around in its order, and the members inside', () => {
    // Beside the loop runs a second way from read to report.
    const nodes = loop(9).map((one) => (one.id === 'read' ? { ...one, children: ['fit', 'side', 'more'] } : one));
    nodes.push(node('side', { children: ['report'] }), node('more', { children: ['report'] }));
    const graph = groupSteps(nodes);
    const open = place(fold(graph, {}));
    const closed = place(fold(graph, { closed: ['fit'] }));
    const across = (places: typeof open) =>
      ['fit', 'side', 'more'].sort((a, b) => spot(places, a).x - spot(places, b).x);
    const spot = ({ steps }: typeof open, id: string) => steps.find((step) => step.id === id) ?? { x: 0, y: 0 };
    expect(across(open)).toEqual(across(closed));
    expect(closed.boxes).toEqual([]);
    const [box] = open.boxes;
    for (let i = 0; i < 9; i++) {
      const { x, y } = spot(open, `fit(${i}:${i})`);
      expect(x).toBeGreaterThan(box?.x ?? 0);
      expect(y).toBeGreaterThan(spot(open, 'fit').y + nodeHeight);
      expect(y + nodeHeight).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));
    }
    // The line to the group ends at its card, and one line leaves its box.
    expect(open.ways.filter(({ to }) => to === 'fit')).toHaveLength(1);
    expect(open.ways.filter(({ fromBox }) => fromBox).map(({ to }) => to)).toEqual(['report']);
  });

  it('lead lines straight down beside a box', () => {
    const nodes = loop(9).map((one) => (one.id === 'read' ? { ...one, children: ['fit', 'side'] } : one));
    nodes.push(node('side', { children: ['report'] }));
    const { boxes, ways } = place(fold(groupSteps(nodes), {}));
    const [box = { id: '', x: 0, y: 0, width: 0, height: 0 }] = boxes;
    const points = ways.find(({ from, to }) => from === 'side' && to === 'report')?.points ?? [];
    expect(points.length).toBeGreaterThan(2);
    for (const { x, y } of points) {
      if (y > box.y && y < box.y + box.height) expect(x < box.x || x > box.x + box.width).toBe(true);
    }
  });
});
