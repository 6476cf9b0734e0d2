import { expect, it } from 'vitest';
import { merge } from './merged';
import type { LogState } from './stream';

const log = (...lines: string[]): LogState => ({ lines, dropped: 0, phase: 'ended' });

it('puts the lines of several logs in the order of their times, however many digits these have', () => {
  const { lines, of, numbers } = merge([
    log('2026-01-01T00:00:01Z a1', '2026-01-01T00:00:02.95Z a2'),
    { ...log('2026-01-01T00:00:02.9Z b1', '2026-01-01T00:00:03Z b2'), dropped: 7 },
  ]);
  expect(lines).toEqual(['a1', 'b1', 'a2', 'b2']);
  expect(of).toEqual([0, 1, 0, 1]);
  expect(numbers).toEqual([1, 8, 2, 9]);
});

it('keeps a line without a time behind the one before it', () => {
  const { lines } = merge([log('2026-01-01T00:00:01Z Traceback', '  File "x"'), log('2026-01-01T00:00:02Z later')]);
  expect(lines).toEqual(['Traceback', '  File "x"', 'later']);
});

it('has ended when all have', () => {
  expect(merge([log(), log()]).phase).toBe('ended');
  expect(merge([log(), { ...log(), phase: 'open' }]).phase).toBe('open');
});
