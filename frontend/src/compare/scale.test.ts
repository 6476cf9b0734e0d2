import { expect, it } from 'vitest';
import { scale, ticks } from './scale';

it.each([
  [0, 10, [0, 2, 4, 6, 8, 10]],
  [0.12, 0.31, [0.15, 0.2, 0.25, 0.3]],
  [-1, 1, [-1, -0.5, 0, 0.5, 1]],
  [3, 3, [3]],
])('ticks from %d to %d', (low, high, all) => expect(ticks(low, high)).toEqual(all));

it('puts the least and the greatest near the ends, and a single value in the middle', () => {
  const { at } = scale([0, 10], 0, 110);
  expect([at(0), at(10)]).toEqual([5, 105]);
  expect(scale([7], 0, 100).at(7)).toBe(50);
});
