import { expect, it } from 'vitest';
import type { Series } from '../api/series';
import { meanSpeed, speedMetric, speedsOf, stepSpeed } from './throughput';

const series = (rank: number, values: (number | null)[], name = 'images/sec', nodeID = 'n'): Series => ({
  nodeID,
  name,
  rank,
  format: 'RAW',
  total: values.length,
  sampled: false,
  points: values.map((value, step) => ({ step, at: undefined, value })),
});

const worker = (index: number, slots = 1) => ({
  pod: `w-${index}`,
  first_rank: index * slots,
  last_rank: (index + 1) * slots - 1,
});

it('chooses the speed that most ranks print', () => {
  const all = [0, 1].flatMap((rank) => [series(rank, [], 'loss'), series(rank, [], 'images/sec')]);
  expect(speedMetric(all, 'n')).toBe('images/sec');
  expect(speedMetric(all, 'other')).toBeUndefined();
  expect(speedMetric([series(0, [])], 'n')).toBeUndefined();
  expect(speedMetric([series(-1, []), series(0, [])], 'n')).toBeUndefined();
  expect(
    speedMetric(
      [0, 1].map((rank) => series(rank, [], 'tokens_per_second')),
      'n',
    ),
  ).toBe('tokens_per_second');
});

it('marks the worker that is slower than the median, by its last values', () => {
  const slow = [...Array.from({ length: 50 }, () => 100), ...Array.from({ length: 10 }, () => 80)];
  const found = speedsOf(
    [worker(0), worker(1), worker(2), { pod: 'launcher' }],
    [series(0, [100, null, 102]), series(1, [99]), series(2, slow), series(2, [1], 'images/sec', 'other')],
    'n',
  );
  expect([...found.keys()]).toEqual(['w-0', 'w-1', 'w-2']);
  expect(found.get('w-0')).toMatchObject({ value: 101, straggler: false });
  expect(found.get('w-2')?.value).toBe(80);
  expect(found.get('w-2')?.straggler).toBe(true);
  expect(found.get('w-2')?.deviation).toBeCloseTo(80 / 99 - 1);
});

it('takes the mean of the ranks of a worker, and marks no worker that is alone or within a tenth', () => {
  const two = speedsOf(
    [worker(0, 2), worker(1, 2)],
    [0, 1, 2, 3].map((rank) => series(rank, [100 + rank])),
    'n',
  );
  expect(two.get('w-1')?.value).toBe(102.5);
  expect([...two.values()].some(({ straggler }) => straggler)).toBe(false);
  expect(speedsOf([worker(0)], [series(0, [5])], 'n').get('w-0')?.straggler).toBe(false);
  expect(speedsOf([worker(0)], [], 'n').size).toBe(0);
});

it('tells the speed of a step that prints it by ranks, or by none', () => {
  const all = [
    series(-1, [4, 6], 'rows_per_second', 'a'),
    series(0, [], 'loss', 'b'),
    series(0, [10]),
    series(1, [30]),
  ];
  expect(stepSpeed(all, ['b', 'n', 'a'])).toEqual({ nodeID: 'n', name: 'images/sec' });
  expect(stepSpeed(all, ['a'])).toEqual({ nodeID: 'a', name: 'rows_per_second' });
  expect(stepSpeed(all, ['b'])).toBeUndefined();
  expect(meanSpeed(all, 'n')).toEqual({ value: 20, ranks: 2 });
  expect(meanSpeed(all, 'a')).toEqual({ value: 5, ranks: 1 });
  expect(meanSpeed([series(0, [null])], 'n')).toBeUndefined();
});
