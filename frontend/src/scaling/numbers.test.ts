import { expect, it } from 'vitest';
import { logTicks } from './numbers';

it('marks a logarithmic axis at 1, 2 and 5 of each power of ten', () => {
  expect(logTicks(8, 1100)).toEqual([10, 20, 50, 100, 200, 500, 1000]);
});

it('marks a short one at round values, so that there are several', () => {
  expect(logTicks(1463, 4250)).toEqual([2000, 3000, 4000]);
});
