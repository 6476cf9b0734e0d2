import { describe, expect, it } from 'vitest';
import { readBrush, selectedRuns, withBrush } from './brush';
import type { Axis } from './measure';

describe('a range of an axis', () => {
  it('is read from the address, with open ends', () => {
    expect(readBrush('1~2.5~metric:train/a~b')).toEqual({ key: 'metric:train/a~b', from: 1, to: 2.5 });
    expect(readBrush('~0~x')).toEqual({ key: 'x', from: undefined, to: 0 });
    for (const odd of ['', 'x', '1~2', '1~2~', '~~x', 'a~2~x']) expect(readBrush(odd), odd).toBeUndefined();
  });

  it('replaces the one of its axis, and goes', () => {
    expect(withBrush(['1~2~a', '3~4~b'], 'a', { from: 5 })).toEqual(['3~4~b', '5~~a']);
    expect(withBrush(['1~2~a'], 'a')).toBeUndefined();
    expect(withBrush(['1~2~a'], 'a', {})).toBeUndefined();
  });
});

describe('selectedRuns', () => {
  const axes: Axis[] = [
    {
      key: 'n',
      label: 'n',
      values: new Map([
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ]),
    },
    {
      key: 'w',
      label: 'w',
      values: new Map([
        ['a', 'x'],
        ['b', 'y'],
      ]),
    },
  ];
  it('are those in all ranges', () => {
    expect(selectedRuns(axes, [])).toBeUndefined();
    expect(selectedRuns(axes, [{ key: 'n', from: 2 }])).toEqual(new Set(['b', 'c']));
    // Words count from 0; a run without a value is in no range.
    expect(
      selectedRuns(axes, [
        { key: 'n', from: 2 },
        { key: 'w', to: 1 },
      ]),
    ).toEqual(new Set(['b']));
    expect(selectedRuns(axes, [{ key: 'hidden', from: 9 }])).toBeUndefined();
  });
});
