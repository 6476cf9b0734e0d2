import { describe, expect, it } from 'vitest';
import type { Job } from '../api/schedules';
import { isCron, periodOf, triggerOf, upcoming } from './trigger';

const at = (text: string) => Date.parse(`2026-11-23T${text}Z`);

describe('upcoming', () => {
  it('counts intervals from the start, and never before it', () => {
    expect(upcoming({ seconds: 600 }, at('05:00:00'), at('05:12:00'), 2)).toEqual([at('05:20:00'), at('05:30:00')]);
    const start = '2026-11-23T08:00:00Z';
    expect(upcoming({ seconds: 600, start }, at('05:00:00'), at('05:12:00'), 1)).toEqual([at('08:10:00')]);
  });

  it('ends with the trigger', () => {
    const end = '2026-11-23T05:30:00Z';
    expect(upcoming({ cron: '*/15 * * * *', end }, 0, at('05:01:00'), 5)).toEqual([at('05:15:00'), at('05:30:00')]);
  });

  it('has no times for what is no trigger', () => {
    expect(upcoming({ cron: 'often' }, 0, 0, 5)).toEqual([]);
    expect(upcoming({}, 0, 0, 5)).toEqual([]);
  });
});

it('reads a job, whose unset times are the epoch', () => {
  const epoch = '1970-01-01T00:00:00Z';
  const job = { trigger: { periodic_schedule: { interval_second: '60', start_time: epoch } } } as Job;
  expect(triggerOf(job)).toEqual({ seconds: 60, start: undefined, end: undefined });
});

it.each([
  [60, { count: 1, unit: 'minute' }],
  [5400, { count: 90, unit: 'minute' }],
  [86_400, { count: 1, unit: 'day' }],
  [61, { count: 61, unit: 'second' }],
])('%i seconds', (seconds, period) => expect(periodOf(seconds)).toEqual(period));

it('knows a cron expression', () => expect([isCron('0 3 * * *'), isCron('soon')]).toEqual([true, false]));
