import type { Job, Trigger } from '../api/schedules';
import { type Cron, nextTime, parseCron } from './cron';

/** When a schedule's runs start, as its wire form says it. */
export function triggerOf(job: Job): Trigger {
  const { cron_schedule: cron, periodic_schedule: periodic } = job.trigger ?? {};
  const span = (at: { start_time?: string; end_time?: string }) => ({
    start: set(at.start_time),
    end: set(at.end_time),
  });
  if (cron) return { cron: cron.cron, ...span(cron) };
  if (periodic) return { seconds: Number(periodic.interval_second), ...span(periodic) };
  return {};
}

// v1beta1 sends the epoch for a time that is not set.
const set = (time: string | undefined) => (time && Date.parse(time) > 0 ? time : undefined);

/** The times at which a trigger starts runs after now, at most count of them; created is when the schedule was made. */
export function upcoming(trigger: Trigger, created: number, now: number, count: number): number[] {
  const begin = trigger.start ? Date.parse(trigger.start) : created;
  const end = trigger.end ? Date.parse(trigger.end) : Number.POSITIVE_INFINITY;
  const cron = trigger.cron ? parseCron(trigger.cron) : undefined;
  const times: number[] = [];
  let last = Math.max(begin, now);
  while (times.length < count) {
    const next = cron ? nextTime(cron, last) : afterInterval(trigger.seconds, begin, last);
    if (next === undefined || next > end) break;
    times.push(next);
    last = next;
  }
  return times;
}

// The first run of an interval comes one interval after the start.
function afterInterval(seconds: number | undefined, begin: number, last: number): number | undefined {
  if (!seconds || seconds < 1) return undefined;
  const period = seconds * 1000;
  return begin + (Math.floor((last - begin) / period) + 1) * period;
}

/** Whether the server would take the expression. */
export const isCron = (text: string): boolean => (parseCron(text) satisfies Cron | undefined) !== undefined;

const steps = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3600 },
  { unit: 'minute', seconds: 60 },
  { unit: 'second', seconds: 1 },
] as const;

/** A period in the largest unit that it is a whole number of. */
export function periodOf(seconds: number): { count: number; unit: (typeof steps)[number]['unit'] } {
  const step = steps.find((one) => seconds % one.seconds === 0) ?? steps[3];
  return { count: seconds / step.seconds, unit: step.unit };
}

export const unitSeconds = Object.fromEntries(steps.map(({ unit, seconds }) => [unit, seconds])) as Record<
  (typeof steps)[number]['unit'],
  number
>;
