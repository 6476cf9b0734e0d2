import { expect, it } from 'vitest';
import type { Series } from '../api/series';
import { chooseCurves, mostCurves, pointsFor } from './choose';

const words = {
  rank: (rank: number) => `rank ${rank}`,
  mean: (label: string, n: number) => `${label} mean of ${n}`,
  nobody: 'no rank',
};
const series = (nodeID: string, rank: number): Series => ({
  nodeID,
  name: 'loss',
  rank,
  format: 'RAW',
  total: 1,
  sampled: false,
  points: [{ step: 1, at: 0, value: rank }],
});
const choose = (all: Series[], ranks?: string) =>
  chooseCurves(all, { along: { axis: 'step', began: 0 }, ranks, nameOf: (id) => id.toUpperCase(), words });
const labels = (all: Series[], ranks?: string) => choose(all, ranks).curves.map((curve) => curve.label);

it('names lines by what differs between them', () => {
  expect(labels([series('a', 0)])).toEqual(['A']);
  expect(labels([series('a', 0), series('a', 1)])).toEqual(['rank 0', 'rank 1']);
  expect(labels([series('a', 0), series('b', 0)])).toEqual(['A', 'B']);
  expect(labels([series('a', -1), series('b', 0)])).toEqual(['A · no rank', 'B · rank 0']);
});

it('keeps the ranks that are asked for', () => {
  expect(labels([series('a', 0), series('a', 1), series('a', 2)], '0,2')).toEqual(['rank 0', 'rank 2']);
});

it('shows the mean of each step when asked, and by itself when the ranks are many', () => {
  const many = Array.from({ length: 64 }, (_, rank) => series('a', rank));
  expect(labels(many)).toEqual(['A mean of 64']);
  expect(labels([series('a', 0), series('a', 1)], 'mean')).toEqual(['A mean of 2']);
  expect(labels([series('a', 0)], 'mean')).toEqual(['A']);
});

it('says how many lines it left out', () => {
  const many = Array.from({ length: 40 }, (_, rank) => series('a', rank));
  const { curves, all } = choose(many, 'each');
  expect(curves).toHaveLength(mostCurves);
  expect(all).toBe(40);
});

it('asks for more points the nearer the zoom', () => {
  expect(pointsFor(undefined, [0, 100], 10_000)).toBe(500);
  expect(pointsFor([0, 100], [0, 100], 10_000)).toBe(500);
  expect(pointsFor([0, 30], [0, 100], 10_000)).toBe(2000);
  expect(pointsFor([0, 0.1], [0, 100], 10_000)).toBe(10_000);
});
