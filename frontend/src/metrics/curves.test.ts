import { describe, expect, it } from 'vitest';
import type { Series } from '../api/series';
import { csvOf, curveOf, meanOf, placesOf, smoothed, spread, summaryOf } from './curves';

const series = (rest: Partial<Series>): Series => ({
  nodeID: 'n',
  name: 'loss',
  rank: 0,
  format: 'RAW',
  total: 3,
  sampled: false,
  points: [],
  ...rest,
});

describe('curveOf', () => {
  const points = [
    { step: 2, at: 110, value: 4 },
    { step: 1, at: 105, value: 8 },
    { step: 3, at: undefined, value: null },
  ];
  it('sorts by step, and keeps what is not a number as a gap', () => {
    expect(curveOf(series({ points }), 'a', { axis: 'step', began: 100 })).toMatchObject({
      x: [1, 2, 3],
      y: [8, 4, null],
    });
  });
  it('counts from the start of the run, without the points whose time is not known', () => {
    expect(curveOf(series({ points }), 'a', { axis: 'relative', began: 100 })).toMatchObject({ x: [5, 10], y: [8, 4] });
    expect(curveOf(series({ points }), 'a', { axis: 'time', began: 100 }).x).toEqual([105, 110]);
  });
  it('takes the last of two values at one place', () => {
    const twice = [
      { step: 1, at: undefined, value: 1 },
      { step: 1, at: undefined, value: 2 },
    ];
    expect(curveOf(series({ points: twice }), 'a', { axis: 'step', began: 0 })).toMatchObject({ x: [1], y: [2] });
  });
});

describe('meanOf', () => {
  it('takes ranks that print at other places into account where they have begun and not ended', () => {
    const mean = meanOf(
      [
        { id: '0', label: '0', x: [0, 10], y: [0, 10] },
        { id: '1', label: '1', x: [5, 10], y: [9, 20] },
      ],
      'mean',
      'mean',
    );
    expect(mean.x).toEqual([0, 5, 10]);
    expect(mean.y).toEqual([0, 7, 15]);
    expect(mean.low).toEqual([0, 5, 10]);
    expect(mean.high).toEqual([0, 9, 20]);
  });
});

describe('smoothed', () => {
  it('keeps a constant, and leaves gaps', () => {
    expect(smoothed([3, null, 3], 0.9)).toEqual([3, null, 3]);
  });
  it('lags behind a jump', () => {
    const [, second] = smoothed([0, 1], 0.5);
    expect(second).toBeCloseTo(2 / 3);
  });
});

it('spreads a curve over the places of all', () => {
  const curves = [
    { id: 'a', label: 'a', x: [1, 3], y: [1, null] },
    { id: 'b', label: 'b', x: [2], y: [2] },
  ];
  const places = placesOf(curves);
  expect(places).toEqual([1, 2, 3]);
  expect(spread(curves[0] as (typeof curves)[0], [1, null], places)).toEqual([1, undefined, null]);
});

it('summarises without what is not a number', () => {
  const points = [3, null, 1, 2, null].map((value, step) => ({ step, at: undefined, value }));
  expect(summaryOf(points)).toEqual({ last: 2, min: 1, max: 3 });
  expect(summaryOf([])).toEqual({ last: null, min: null, max: null });
});

it('writes CSV that quotes names and starts no formula', () => {
  const odd = series({ name: '=cmd()', points: [{ step: 1, at: 0, value: 0.5 }] });
  expect(csvOf([odd], () => 'a,"b"')).toBe(
    'metric,step_name,rank,step,printed_at,value\n\'=cmd(),"a,""b""",0,1,1970-01-01T00:00:00.000Z,0.5\n',
  );
});
