import { expect, it } from 'vitest';
import { drawn, moved, writeRange, zoomed } from './view';

it('zooms around a place, which stays where it is', () => {
  expect(zoomed([0, 100], 100, 0.5)).toEqual([25, 75]);
  expect(zoomed([0, 100], 100, 0.5, 20)).toEqual([10, 60]);
  expect(zoomed([10, 60], 100, 2, 20)).toBeUndefined();
});

it('stays in the run, and shows all where the range is as long as it', () => {
  expect(zoomed([80, 100], 100, 2, 100)).toEqual([60, 100]);
  expect(moved([60, 100], 100, 0.5)).toEqual([60, 100]);
  expect(moved([60, 100], 100, -0.5)).toEqual([40, 80]);
  expect(moved([10, 30], 100, -1)).toEqual([0, 20]);
  expect(zoomed([20, 80], 100, 2)).toBeUndefined();
});

it('goes no nearer than a second', () => {
  expect(zoomed([10, 11], 100, 0.5)).toEqual([10, 11]);
  expect(drawn(50.2, 50.4, 100)?.map((at) => Math.round(at * 10) / 10)).toEqual([49.8, 50.8]);
});

it('takes a drag in both directions', () => {
  expect(drawn(70, 20, 100)).toEqual([20, 70]);
});

it('writes short addresses', () => {
  expect(writeRange([1 / 3, 2])).toBe('0.33~2');
});
