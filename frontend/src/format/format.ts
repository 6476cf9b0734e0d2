import { timeZone } from './zone';

/** Milliseconds between two instants; an absent end means now. Undefined when it has not begun. */
export function elapsed(start: string | undefined, end: string | undefined, now: number): number | undefined {
  if (!start) return undefined;
  const from = Date.parse(start);
  const to = end ? Date.parse(end) : now;
  // Clocks differ: a step that began "after now" has run for no time yet.
  return Number.isNaN(from) || Number.isNaN(to) ? undefined : Math.max(0, to - from);
}

type Made = { numbers: Intl.NumberFormat; times: Intl.DateTimeFormat; relative: Intl.RelativeTimeFormat };

// Making a formatter takes longer than all that it does in a table.
const made = new Map<string, Made[keyof Made]>();

function kept<K extends keyof Made>(kind: K, language: string, options: object, make: () => Made[K]): Made[K] {
  const key = `${kind} ${language} ${JSON.stringify(options)}`;
  const held = (made.get(key) as Made[K] | undefined) ?? make();
  made.set(key, held);
  return held;
}

/** A formatter of numbers, made once for each language and look. */
export const numberFormat = (language: string, options: Intl.NumberFormatOptions = {}) =>
  kept('numbers', language, options, () => new Intl.NumberFormat(language, options));

/** A duration with its two largest units: 45s, 2m 10s, 3h 5m, 2d 4h. */
export function formatDuration(ms: number, language: string): string {
  const seconds = Math.floor(ms / 1000);
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor(seconds / 3600) % 24, 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2);
  return shown
    .map(([count, unit]) => numberFormat(language, { style: 'unit', unit, unitDisplay: 'narrow' }).format(count))
    .join(' ');
}

/** A date and time of day, to the second; empty for none, and for the epoch, which v1beta1 sends for none. */
export function formatTime(time: string | undefined, language: string): string {
  const at = time ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at) || at === 0) return '';
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: timeZone() } as const;
  return kept('times', language, options, () => new Intl.DateTimeFormat(language, options)).format(at);
}

/** The same with its time zone, for whoever wants to know exactly. */
export function formatExact(time: string | undefined, language: string): string {
  const at = time ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at) || at === 0) return '';
  const options: Intl.DateTimeFormatOptions = {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    timeZone: timeZone(),
  };
  return kept('times', language, options, () => new Intl.DateTimeFormat(language, options)).format(at);
}

/** A short mark of an axis of time that spans so many milliseconds: a time of day, or a day. */
export function formatMark(at: number, span: number, language: string): string {
  const options: Intl.DateTimeFormatOptions = {
    ...(span < 2 * 86_400_000
      ? { hour: '2-digit', minute: '2-digit', second: span < 600_000 ? '2-digit' : undefined, hourCycle: 'h23' }
      : { month: 'short', day: 'numeric' }),
    timeZone: timeZone(),
  };
  return kept('times', language, options, () => new Intl.DateTimeFormat(language, options)).format(at);
}

/** A stretch of time before (negative) or after now in its largest unit: 5 minutes ago, in 2 hours, yesterday. */
export function formatRelative(ms: number, language: string): string {
  const options = { numeric: 'auto', style: 'long' } as const;
  const format = kept('relative', language, options, () => new Intl.RelativeTimeFormat(language, options));
  const units = [
    ['year', 31_536_000_000],
    ['month', 2_592_000_000],
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
  ] as const;
  for (const [unit, size] of units) {
    if (Math.abs(ms) >= size) return format.format(Math.trunc(ms / size), unit);
  }
  return format.format(Math.trunc(ms / 1000), 'second');
}

export function formatNumber(value: number, language: string): string {
  return numberFormat(language).format(value);
}

/** A metric's value: at most three decimals, or as a percentage; tiny and huge values in scientific notation. */
export function formatMetric(value: number, format: string | undefined, language: string): string {
  if (format === 'PERCENTAGE') {
    return numberFormat(language, { style: 'percent', maximumFractionDigits: 3 }).format(value);
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e12)) {
    return numberFormat(language, { notation: 'scientific', maximumSignificantDigits: 4 }).format(value);
  }
  return numberFormat(language, { maximumFractionDigits: 3 }).format(value);
}

export function formatBytes(bytes: number, language: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];
  const power = bytes > 0 ? Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3)) : 0;
  const unit = units[power];
  // Only whole bytes are said in full: "20 bytes", but "1.7 MB".
  const unitDisplay = power === 0 ? 'long' : 'short';
  const format = numberFormat(language, { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 });
  return format.format(bytes / 1000 ** power);
}
