import { describe, expect, it } from 'vitest';
import { nextTime, parseCron, parsePeriod } from './cron';

const after = Date.parse('2026-11-23T05:04:30.500Z'); // a Monday

const next = (text: string, from = after) => {
  const cron = parseCron(text);
  const at = cron && nextTime(cron, from);
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 19);
};

// What robfig/cron, the server's reader, gives for the same.
describe('nextTime', () => {
  it.each([
    ['* * * * *', '2026-11-23T05:05:00'],
    ['*/15 * * * *', '2026-11-23T05:15:00'],
    ['*/10 * * * * *', '2026-11-23T05:04:40'],
    ['0 3 * * *', '2026-11-24T03:00:00'],
    ['0 30 9 * * 1', '2026-11-23T09:30:00'],
    ['30 9 * * MON-FRI', '2026-11-23T09:30:00'],
    ['0 0 1 1 *', '2027-01-01T00:00:00'],
    ['0 0 29 2 *', '2028-02-29T00:00:00'],
    // Day and weekday together: either is enough.
    ['0 0 1 * SUN', '2026-11-29T00:00:00'],
    ['0 0 ? * SUN', '2026-11-29T00:00:00'],
    ['5/20 * * * *', '2026-11-23T05:05:00'],
    ['0 8-18/5 * * *', '2026-11-23T08:00:00'],
    ['@daily', '2026-11-24T00:00:00'],
    ['@every 90s', '2026-11-23T05:06:00'],
    ['0 0 31 2 *', undefined],
  ])('%s: %s', (text, time) => expect(next(text)).toBe(time));
});

it.each([
  '',
  '* * * *',
  '60 * * * *',
  '* * * * 7',
  'a * * * *',
  '*/0 * * * *',
  '5-1 * * * *',
  '@sometimes',
  '@every x',
])('%j is refused', (text) => expect(parseCron(text)).toBeUndefined());

it.each([
  ['1h30m', 5_400_000],
  ['90s', 90_000],
  ['10', undefined],
  ['ten', undefined],
])('the period %s has %s ms', (text, ms) => expect(parsePeriod(text)).toBe(ms));
