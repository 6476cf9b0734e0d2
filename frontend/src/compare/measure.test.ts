import { describe, expect, it } from 'vitest';
import { axes, best, chosenAxes, least, places, shownParameters, spots } from './measure';

const comparison = {
  parameters: [
    {
      name: 'workers',
      same: false,
      values: [
        { run_id: 'a', value: '1' },
        { run_id: 'b', value: '4' },
      ],
    },
    {
      name: 'optimizer',
      same: false,
      values: [
        { run_id: 'a', value: 'sgd' },
        { run_id: 'b', value: 'adam' },
      ],
    },
    {
      name: 'data',
      same: true,
      values: [
        { run_id: 'a', value: 'x' },
        { run_id: 'b', value: 'x' },
      ],
    },
  ],
  metrics: [
    {
      name: 'images/sec',
      step_name: 'train',
      values: [
        { run_id: 'a', value: 100 },
        { run_id: 'b', value: 380 },
      ],
    },
  ],
};

it('shows the parameters that differ, by a part of their names', () => {
  const names = (all: boolean, q: string) => shownParameters(comparison.parameters, all, q).map(({ name }) => name);
  expect(names(false, '')).toEqual(['workers', 'optimizer']);
  expect(names(true, '')).toEqual(['workers', 'optimizer', 'data']);
  expect(names(true, 'WORK')).toEqual(['workers']);
});

describe('the best', () => {
  it('is the greatest or the least, and nothing where all are alike', () => {
    expect([best([1, 3, 2], false), best([1, 3, 2], true), best([2, 2], false), best([1], true)]).toEqual([
      3,
      1,
      undefined,
      undefined,
    ]);
  });

  it('follows the name of the metric, and the reader', () => {
    expect(least({ name: 'val_loss' }, [])).toBe(true);
    expect(least({ name: 'images/sec' }, [])).toBe(false);
    expect(least({ name: 'images/sec', step_name: 'train' }, ['train/images/sec'])).toBe(true);
  });
});

it('places numbers as they are, and words side by side', () => {
  const [workers, optimizer, metric] = axes(comparison);
  if (!workers || !optimizer || !metric) throw new Error('three axes are expected');
  expect(axes(comparison)).toHaveLength(3);
  expect(spots(workers, metric)).toEqual([
    { run: 'a', x: 1, y: 100 },
    { run: 'b', x: 4, y: 380 },
  ]);
  expect(places(optimizer).words).toEqual(['adam', 'sgd']);
  expect(spots(optimizer, metric)[0]).toEqual({ run: 'a', x: 1, y: 100 });
});

it('takes the axes that are named, in their order, else parameters and then a metric', () => {
  const all = axes(comparison);
  const keys = (named: string[] | undefined, most = 9) => chosenAxes(all, named, most).map(({ key }) => key);
  expect(keys(undefined)).toEqual(['parameter:workers', 'parameter:optimizer', 'metric:train/images/sec']);
  expect(keys(['metric:train/images/sec', 'gone', 'parameter:workers'])).toEqual([
    'metric:train/images/sec',
    'parameter:workers',
  ]);
  expect(keys(['metric:train/images/sec', 'parameter:workers'], 1)).toEqual(['metric:train/images/sec']);
});
