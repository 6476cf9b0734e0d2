import { expect, it } from 'vitest';
import { maxLines } from './lines';
import { gone, MergedLines, numberOf } from './merged';

const log = (rank: number, rest: object = {}) =>
  `${JSON.stringify({ log: { attempt: 1, pod: `w${rank}`, container: 'worker', rank, ...rest } })}\n`;
const line = (of: number, n: number, text: string) => `${JSON.stringify({ of, n, text })}\n`;

it('takes the lines of a merge as they come, in pieces too, and appends what is new', () => {
  const lines = new MergedLines();
  const text = log(0) + line(0, 1, 'one') + log(1) + line(1, 1, '10%\r20%');
  lines.append(text.slice(0, 30));
  lines.append(text.slice(30));
  expect(lines.held()).toMatchObject({ lines: ['one', '20%'], of: [0, 1], numbers: [1, 1], dropped: 0 });
  const before = lines.held();
  lines.append(line(0, 2, 'late'));
  expect(lines.held().lines).toEqual(['one', '20%', 'late']);
  expect(before.lines).toHaveLength(2);
});

it('finds a line by its log and number, and tells one that is gone from one that is to come', () => {
  const lines = new MergedLines();
  lines.append(log(0) + log(1) + log(1, { restart: 2 }));
  lines.append(line(0, 1, 'x').repeat(maxLines * 1.2));
  lines.append(line(1, 7, 'y') + line(2, 7, 'z'));
  const held = lines.held();
  expect(held.dropped).toBe(maxLines * 0.2);
  expect(numberOf(held, { log: '1/w1/worker', line: 7 })).toBe(maxLines * 1.2 + 1);
  expect(numberOf(held, { log: '1/w1/worker/2', line: 7 })).toBe(maxLines * 1.2 + 2);
  expect(numberOf(held, { log: '1/w1/worker', line: 6 })).toBe(gone);
  expect(numberOf(held, { log: '1/w1/worker', line: 8 })).toBeUndefined();
  expect(numberOf(held, { log: '1/none/worker', line: 1 })).toBeUndefined();
});
