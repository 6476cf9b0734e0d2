import { expect, it } from 'vitest';
import type { Run } from '../api/client';
import { firstLine, usualDurations } from './progress';

const run = (status: string, seconds: number | undefined, pipeline = 'p') =>
  ({
    status,
    pipeline: { id: pipeline },
    started_at: '2026-01-01T00:00:00Z',
    finished_at: seconds === undefined ? undefined : new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString(),
  }) as Run;

it('takes the median of the runs that succeeded, by pipeline', () => {
  const runs = [
    run('Succeeded', 10),
    run('Succeeded', 100),
    run('Succeeded', 20),
    run('Failed', 1),
    run('Running', undefined),
  ];
  expect([...usualDurations([...runs, run('Succeeded', 5, 'q')])]).toEqual([
    ['p', 20_000],
    ['q', 5_000],
  ]);
});

it('says one line', () => expect([firstLine('\n one\ntwo'), firstLine(undefined)]).toEqual(['one', '']));
