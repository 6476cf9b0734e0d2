import { expect, it } from 'vitest';
import { meanOf, type Speeds, withPoints } from './speed';

const point = (rank: number, value: number | undefined, name = 'images/sec', node_id = 'n') => ({
  run_id: 'r',
  node_id,
  name,
  rank,
  value,
});

it('keeps what each rank printed last of a metric of speed', () => {
  const none: Speeds = new Map();
  const first = withPoints(none, [point(0, 100), point(1, 300), point(0, 200), point(0, 0.5, 'loss')]);
  const speed = first.get('r');
  expect(speed?.name).toBe('images/sec');
  expect(speed && meanOf(speed)).toBe(250);
  const later = withPoints(first, [point(1, 400)]).get('r');
  expect(later && meanOf(later)).toBe(300);
  expect(speed && meanOf(speed), 'what was is not changed').toBe(250);
});

it('forgets the ranks of a step when another measures', () => {
  const first = withPoints(new Map(), [point(0, 100), point(1, 300)]);
  const next = withPoints(first, [point(0, 50, 'images/sec', 'other')]).get('r');
  expect(next && [...next.ranks]).toEqual([[0, 50]]);
});

it('is the same object when no speed came', () => {
  const none: Speeds = new Map();
  expect(withPoints(none, [point(0, 1, 'loss'), point(0, undefined)])).toBe(none);
});
