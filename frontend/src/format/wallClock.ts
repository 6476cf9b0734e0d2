import { timeZone } from './zone';

/** How far the clocks of the reader's zone are ahead of UTC at an instant, in milliseconds. */
export function zoneOffset(at: number): number {
  const format = new Intl.DateTimeFormat('en-u-hc-h23', {
    timeZone: timeZone(),
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** An instant as a field of date and time has it, in the reader's zone: 2026-11-20T10:00. */
export function toWallClock(iso: string): string {
  const at = Date.parse(iso);
  return new Date(at + zoneOffset(at)).toISOString().slice(0, 16);
}

/** The instant that such a field means. */
export function fromWallClock(text: string): string {
  const wall = Date.parse(`${text}Z`);
  // The first guess may lie on the other side of a change of the clocks.
  const guess = wall - zoneOffset(wall);
  return new Date(wall - zoneOffset(guess)).toISOString();
}
