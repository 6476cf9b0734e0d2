import { expect, it } from 'vitest';
import type { RunNode } from '../api/client';
import { timelineOf } from './model';

const at = (second: number) => new Date(second * 1000).toISOString();
const pod = (id: string, from: number, to: number | undefined, rest: Partial<RunNode> = {}): RunNode => ({
  id,
  name: id,
  type: 'Pod',
  phase: to === undefined ? 'Running' : 'Succeeded',
  started_at: at(from),
  finished_at: to === undefined ? undefined : at(to),
  ...rest,
});
const log = (node_id: string, attempt: number, from: number, to: number) => ({
  node_id,
  attempt,
  container: 'main',
  started_at: at(from),
  last_at: at(to),
});
const ms = (seconds: number) => seconds * 1000;

it('tells waiting from running by when the container began', () => {
  const { rows, from, to } = timelineOf([pod('a', 10, 30)], [log('a', 1, 14, 29)], ms(99));
  expect(rows[0]?.spans).toEqual([
    { kind: 'waiting', from: ms(10), to: ms(14), attempt: 1 },
    { kind: 'running', from: ms(14), to: ms(30), attempt: 1 },
  ]);
  expect([from, to]).toEqual([ms(10), ms(30)]);
});

it('draws what goes on up to now, and a pending step as waiting', () => {
  const { rows } = timelineOf([pod('a', 10, undefined), pod('b', 12, undefined, { phase: 'Pending' })], [], ms(40));
  expect(rows[0]?.spans.at(-1)).toMatchObject({ kind: 'running', to: ms(40) });
  expect(rows[1]?.spans).toEqual([{ kind: 'waiting', from: ms(12), to: ms(40), attempt: 1 }]);
});

it('cuts the time of a pull out of the time that a step waited', () => {
  const pulls = [{ nodeID: 'a', from: ms(12), to: ms(17) }];
  const { rows } = timelineOf([pod('a', 10, 30)], [log('a', 1, 18, 29)], ms(99), pulls);
  expect(rows[0]?.spans).toEqual([
    { kind: 'waiting', from: ms(10), to: ms(12), attempt: 1 },
    { kind: 'waiting', from: ms(17), to: ms(18), attempt: 1 },
    { kind: 'running', from: ms(18), to: ms(30), attempt: 1 },
    { kind: 'pulling', from: ms(12), to: ms(17), attempt: 1 },
  ]);
});

it('draws a pull that goes on up to now, and none of an attempt before', () => {
  const pending = pod('a', 10, undefined, { phase: 'Pending' });
  const { rows } = timelineOf([pending], [], ms(40), [{ nodeID: 'a', from: ms(13) }]);
  expect(rows[0]?.spans).toEqual([
    { kind: 'waiting', from: ms(10), to: ms(13), attempt: 1 },
    { kind: 'pulling', from: ms(13), to: ms(40), attempt: 1 },
  ]);
  const old = timelineOf([pending], [], ms(40), [{ nodeID: 'a', from: ms(3), to: ms(5) }]);
  expect(old.rows[0]?.spans.map(({ kind }) => kind)).toEqual(['waiting']);
});

it('shows the earlier attempts of a run that was retried', () => {
  const { rows } = timelineOf([pod('a', 50, 60)], [log('a', 1, 10, 20), log('a', 2, 52, 59)], ms(99));
  expect(rows[0]?.spans.map(({ kind, attempt }) => [kind, attempt])).toEqual([
    ['earlier', 1],
    ['waiting', 2],
    ['running', 2],
  ]);
});

it('marks the chain that the end waited for', () => {
  const nodes = [
    pod('a', 0, 10, { children: ['slow', 'quick'] }),
    pod('slow', 10, 50, { children: ['end'] }),
    pod('quick', 10, 20, { children: ['end'] }),
    pod('end', 50, 60),
  ];
  const { rows } = timelineOf(nodes, [], ms(99));
  expect(rows.filter((row) => row.critical).map((row) => row.step.id)).toEqual(['a', 'slow', 'end']);
});

it('survives steps without times', () => {
  const { rows, from, to } = timelineOf([{ id: 'a', name: 'a', type: 'Pod', phase: 'Omitted' }], [], ms(5));
  expect(rows[0]?.spans).toEqual([]);
  expect([from, to]).toEqual([ms(5), ms(5)]);
});
