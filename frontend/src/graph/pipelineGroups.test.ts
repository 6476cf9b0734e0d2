import { describe, expect, it } from 'vitest';
import type { Graph } from '../api/client';
import { findSteps } from './find';
import { fold } from './fold';
import { place } from './layout';
import { groupPipeline } from './pipelineGroups';

const edge = (from: string, to: string) => ({ from, to });
const task = (id: string, rest: object = {}) => {
  const [name = '', ...above] = id.split('/').reverse();
  return { id, name, type: 'Container', parent: above.reverse().join('/') || undefined, ...rest };
};
const dag = (id: string, rest: object = {}) => task(id, { type: 'DAG', ...rest });

/** read; a loop over fit and test, where test is a sub-pipeline of two; a branch that sends; report. */
const graph: Graph = {
  nodes: [
    task('read'),
    dag('each', { loop: true }),
    task('each/fit'),
    dag('each/test'),
    task('each/test/a'),
    task('each/test/b'),
    dag('good', { when: '{{tasks.each.outputs.parameters.best}} > 0.9' }),
    task('good/send', { loop: true }),
    task('report', { when: 'true' }),
  ],
  edges: [edge('read', 'each'), edge('each/fit', 'each/test'), edge('each', 'good'), edge('each', 'report')],
};
const groups = () => groupPipeline(graph);
const ids = ({ steps }: { steps: { id: string }[] }) => steps.map(({ id }) => id);

describe('the groups of a pipeline', () => {
  it('are the tasks that hold others: loops, branches and sub-pipelines, with the number of steps in them', () => {
    expect([...groups().groups.values()]).toEqual([
      { id: 'each', kind: 'loop', leaves: 3 },
      { id: 'each/test', kind: 'pipeline', leaves: 2 },
      { id: 'good', kind: 'branch', leaves: 1 },
    ]);
    const closed = fold(groups(), { closed: ['each', 'good'] });
    expect(ids(closed)).toEqual(['read', 'each', 'good', 'report']);
    expect(closed.steps[1]?.stack).toMatchObject({ kind: 'loop', open: false, size: 3, counts: [] });
    expect(closed.steps[2]).toMatchObject({ when: '{{tasks.each.outputs.parameters.best}} > 0.9' });
    expect(closed.edges).toEqual([edge('read', 'each'), edge('each', 'good'), edge('each', 'report')]);
  });

  it('are no groups where a task that runs once per item or under a condition has no others in it', () => {
    const open = fold(groups(), {});
    expect(open.steps.find(({ id }) => id === 'good/send')).toMatchObject({ loop: true, stack: undefined });
    expect(open.steps.find(({ id }) => id === 'report')).toMatchObject({ when: 'true', stack: undefined });
    expect(open.steps.map(({ group }) => group)).toEqual([
      ...[undefined, undefined, 'each', 'each', 'each/test', 'each/test', undefined, 'good', undefined],
    ]);
  });

  it('are drawn around their members, and the lines of a group begin at its frame', () => {
    const { boxes, ways } = place(fold(groups(), {}));
    expect(boxes.map(({ id }) => id).sort()).toEqual(['each', 'each/test', 'good']);
    expect(ways.filter(({ fromBox }) => fromBox).map(({ from, to }) => `${from}>${to}`)).toEqual([
      'each>good',
      'each>report',
    ]);
  });

  it('are branches also where a compiler names them so', () => {
    const { groups } = groupPipeline({
      nodes: [dag('condition-1'), dag('condition-1/branch-1'), task('condition-1/branch-1/a')],
    });
    expect([...groups.values()].map(({ kind }) => kind)).toEqual(['branch', 'branch']);
  });

  it('start closed beyond twenty steps', () => {
    const many = Array.from({ length: 21 }, (_, i) => task(`sub/s${i}`));
    expect(ids(fold(groupPipeline({ nodes: [dag('sub'), ...many] }), {}))).toEqual(['sub']);
  });

  it('survive parents that are not there, and steps that wait for each other', () => {
    const odd = groupPipeline({
      nodes: [task('gone/a'), dag('sub'), task('sub/x'), task('sub/y')],
      edges: [edge('sub/x', 'sub/y'), edge('sub/y', 'sub/x'), edge('sub', 'gone/a'), edge('gone/a', 'nothing')],
    });
    const folded = fold(odd, {});
    expect(ids(folded)).toEqual(['gone/a', 'sub', 'sub/x', 'sub/y']);
    expect(folded.edges).toContainEqual(edge('sub', 'gone/a'));
    expect(place(folded).steps).toHaveLength(4);
  });
});

describe('a search in a pipeline', () => {
  const found = (q: string) => [...(findSteps(groups(), q) ?? [])].sort();

  it('goes into groups and out of them, as in a run', () => {
    expect(found('fit+')).toEqual(
      ['each/fit', 'each/test', 'each/test/a', 'each/test/b', 'good', 'good/send', 'report'].sort(),
    );
    expect(found('+fit')).toEqual(['each', 'each/fit', 'read']);
    expect(found('1+report')).toEqual(['each/test/a', 'each/test/b', 'report']);
  });

  it('counts what closed groups hide', () => {
    const folded = fold(groups(), { closed: ['each', 'each/test'] }, findSteps(groups(), '+b'));
    expect(folded.hiding).toEqual({ groups: ['each', 'each/test'], steps: 3 });
    expect(folded.steps.find(({ id }) => id === 'each')?.stack?.found).toBe(3);
  });
});
