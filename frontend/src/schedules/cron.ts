/*
 * The times of a cron expression, as the server reads it (github.com/robfig/cron): five fields, or six with seconds before them, or a
 * word such as @daily. All times are UTC.
 */

interface Range {
  min: number;
  max: number;
  names?: string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const ranges: Range[] = [
  { min: 0, max: 59 },
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: weekdays },
];

const words: Record<string, string> = {
  '@yearly': '0 0 0 1 1 *',
  '@annually': '0 0 0 1 1 *',
  '@monthly': '0 0 0 1 * *',
  '@weekly': '0 0 0 * * 0',
  '@daily': '0 0 0 * * *',
  '@midnight': '0 0 0 * * *',
  '@hourly': '0 0 * * * *',
};

interface Field {
  has: ReadonlySet<number>;
  /** It was written as * or ?, so that the other of day and weekday decides. */
  any: boolean;
}

/** A cron expression that can be asked for its times. */
export type Cron = { fields: Field[] } | { every: number };

/** Reads an expression; undefined when the server would refuse it. */
export function parseCron(text: string): Cron | undefined {
  const trimmed = text.trim();
  const every = /^@every\s+(.+)$/.exec(trimmed);
  if (every) {
    const ms = parsePeriod(every[1] as string);
    return ms === undefined ? undefined : { every: Math.max(1000, ms - (ms % 1000)) };
  }
  let parts = (words[trimmed.toLowerCase()] ?? trimmed).split(/\s+/);
  if (parts.length === 5) parts = ['0', ...parts];
  if (parts.length !== ranges.length) return undefined;
  const fields: Field[] = [];
  for (const [i, part] of parts.entries()) {
    const field = parseField(part, ranges[i] as Range);
    if (!field) return undefined;
    fields.push(field);
  }
  return { fields };
}

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** A period as Go writes it, such as 1h30m, in milliseconds. */
export function parsePeriod(text: string): number | undefined {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text.trim()) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitMs[unit as string] as number), 0);
}

function parseField(text: string, range: Range): Field | undefined {
  const has = new Set<number>();
  let any = false;
  for (const part of text.split(',')) {
    const [span = '', step, more] = part.split('/');
    if (more !== undefined || (step !== undefined && !/^[1-9]\d*$/.test(step))) return undefined;
    const wild = span === '*' || span === '?';
    // The server's reader takes */2 for a choice of days, and only a plain * for all of them.
    any ||= wild && (step === undefined || step === '1');
    const [from = '', to, third] = wild ? [String(range.min), String(range.max)] : span.split('-');
    const first = numberOf(from, range);
    const last = to === undefined ? (step === undefined ? first : range.max) : numberOf(to, range);
    if (third !== undefined || first === undefined || last === undefined || first > last) return undefined;
    for (let value = first; value <= last; value += Number(step ?? 1)) has.add(value);
  }
  return { has, any };
}

function numberOf(text: string, { min, max, names }: Range): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  const value = named >= 0 ? named + min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

const day = 86_400_000;
// The farthest that the server looks, too: what matches no day in five years matches none.
const horizon = 5 * 366;

/** The first time after another, in milliseconds; undefined when there is none. */
export function nextTime(cron: Cron, after: number): number | undefined {
  if ('every' in cron) return after - (after % 1000) + cron.every;
  const [seconds, minutes, hours, days, monthField, weekdayField] = cron.fields as [
    Field,
    Field,
    Field,
    Field,
    Field,
    Field,
  ];
  const start = after - (after % 1000) + 1000;
  const firstDay = start - (start % day);
  for (let i = 0; i < horizon; i++) {
    const midnight = firstDay + i * day;
    const date = new Date(midnight);
    if (!monthField.has.has(date.getUTCMonth() + 1)) continue;
    const dayFits = days.has.has(date.getUTCDate());
    const weekdayFits = weekdayField.has.has(date.getUTCDay());
    if (days.any || weekdayField.any ? !(dayFits && weekdayFits) : !(dayFits || weekdayFits)) continue;
    const found = timeOfDay(seconds.has, minutes.has, hours.has, Math.max(0, start - midnight));
    if (found !== undefined) return midnight + found;
  }
  return undefined;
}

function timeOfDay(
  seconds: ReadonlySet<number>,
  minutes: ReadonlySet<number>,
  hours: ReadonlySet<number>,
  from: number,
): number | undefined {
  const sorted = (set: ReadonlySet<number>) => [...set].sort((a, b) => a - b);
  for (const h of sorted(hours)) {
    if ((h + 1) * 3_600_000 <= from) continue;
    for (const m of sorted(minutes)) {
      if (h * 3_600_000 + (m + 1) * 60_000 <= from) continue;
      for (const s of sorted(seconds)) {
        const at = h * 3_600_000 + m * 60_000 + s * 1000;
        if (at >= from) return at;
      }
    }
  }
  return undefined;
}
