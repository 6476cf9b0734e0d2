import { describe, expect, it } from 'vitest';
import type { Point, Series } from '../api/series';
import { readRunSearch } from '../runs/runSearch';
import { joinedTo, partnerOf } from './join';

const series = (rank: number, points: Point[] = [], nodeID = 'n'): Series => ({
  nodeID,
  name: 'x',
  rank,
  format: 'RAW',
  total: points.length,
  sampled: false,
  points,
});

describe('joinedTo', () => {
  const place = joinedTo(
    series(0, [
      { step: 30, at: 300, value: 3 },
      { step: 10, at: 100, value: 1 },
      { step: 20, at: 200, value: null },
      { step: 40, at: undefined, value: 4 },
    ]),
  );
  it('takes the value of the same step, whatever its time', () => {
    expect(place({ step: 10, at: 300, value: 0 })).toBe(1);
    expect(place({ step: 40, at: undefined, value: 0 })).toBe(4);
  });
  it('takes the nearest in time where there is no such step, or no number', () => {
    expect(place({ step: 20, at: 190, value: 0 })).toBe(1);
    expect(place({ step: 5, at: 210, value: 0 })).toBe(3);
    expect(place({ step: 5, at: 1, value: 0 })).toBe(1);
    expect(place({ step: 5, at: 999, value: 0 })).toBe(3);
  });
  it('has no place without either', () => {
    expect(place({ step: 5, at: undefined, value: 0 })).toBeUndefined();
    expect(joinedTo(series(0))({ step: 1, at: 1, value: 0 })).toBeUndefined();
  });
});

it('joins ranks with themselves, else with the lowest rank of the same step of the run', () => {
  const along = [series(1), series(0), series(-1, [], 'other')];
  expect(partnerOf(series(1), along)?.rank).toBe(1);
  expect(partnerOf(series(7), along)?.rank).toBe(0);
  expect(partnerOf(series(0, [], 'third'), along)).toBeUndefined();
});

it('is kept in the address, where nonsense is dropped', () => {
  expect(readRunSearch({ x: 'metric:a b/c', xscale: 'log' })).toMatchObject({ x: 'metric:a b/c', xscale: 'log' });
  expect(readRunSearch({ x: 'metric:', xscale: 'cubic' })).toMatchObject({ x: undefined, xscale: undefined });
});
