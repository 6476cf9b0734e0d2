import type { Trigger } from '../api/schedules';
import { fromWallClock, toWallClock } from '../format/wallClock';
import { isCron, periodOf, unitSeconds } from '../schedules/trigger';

/** A trigger as it is being typed. */
export interface TriggerDraft {
  kind: 'period' | 'cron';
  count: string;
  unit: keyof typeof unitSeconds;
  cron: string;
  /** As a field for dates and times has them, in the reader's zone; empty for none. */
  start: string;
  end: string;
  maxConcurrency: number;
  catchUp: boolean;
}

export const newTrigger: TriggerDraft = {
  kind: 'period',
  count: '1',
  unit: 'hour',
  cron: '0 3 * * *',
  start: '',
  end: '',
  maxConcurrency: 1,
  catchUp: true,
};

/** A trigger that there is, to be changed. */
export function triggerDraft(trigger: Trigger): TriggerDraft {
  const { count, unit } = periodOf(trigger.seconds ?? unitSeconds.hour);
  return {
    ...newTrigger,
    kind: trigger.cron ? 'cron' : 'period',
    count: String(count),
    unit,
    cron: trigger.cron ?? newTrigger.cron,
    start: localTime(trigger.start),
    end: localTime(trigger.end),
  };
}

const localTime = (iso: string | undefined) => (iso ? toWallClock(iso) : '');

/** What the server is sent; undefined while something of it is wrong. */
export function draftTrigger(draft: TriggerDraft): Trigger | undefined {
  const start = draft.start ? fromWallClock(draft.start) : undefined;
  const end = draft.end ? fromWallClock(draft.end) : undefined;
  if (start && end && end < start) return undefined;
  if (draft.kind === 'cron') return isCron(draft.cron) ? { cron: draft.cron.trim(), start, end } : undefined;
  const seconds = Number(draft.count) * unitSeconds[draft.unit];
  return Number.isInteger(seconds) && seconds >= 1 ? { seconds, start, end } : undefined;
}
