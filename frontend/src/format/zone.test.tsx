import { screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { Ago } from './Ago';
import { formatMark, formatTime } from './format';
import { fromWallClock, toWallClock, zoneOffset } from './wallClock';
import { chooseTimeZone, timeZone } from './zone';

const at = '2026-07-01T22:30:00Z';
const hour = 3_600_000;

afterEach(() => chooseTimeZone(undefined));

it('writes all times in the zone that was chosen, and remembers it', async () => {
  chooseTimeZone('Asia/Shanghai');
  expect(formatTime(at, 'en')).toBe('Jul 2, 2026, 6:30:00 AM');
  expect(formatMark(Date.parse(at), hour, 'en')).toBe('06:30');
  expect(formatMark(Date.parse(at), hour / 60, 'en')).toBe('06:30:00');
  expect(formatMark(Date.parse(at), 100 * hour, 'en')).toBe('Jul 2');
  vi.resetModules();
  expect((await import('./zone')).timeZone()).toBe('Asia/Shanghai');
  chooseTimeZone('UTC');
  expect(formatTime(at, 'en')).toBe('Jul 1, 2026, 10:30:00 PM');
  chooseTimeZone(undefined);
  expect(localStorage.getItem('argosy-time-zone')).toBeNull();
});

it('takes no zone that there is not, whoever wrote it into the storage', async () => {
  localStorage.setItem('argosy-time-zone', 'Moon/Tranquility');
  vi.resetModules();
  expect((await import('./zone')).timeZone()).toBeUndefined();
  chooseTimeZone('Moon/Tranquility');
  expect(timeZone()).toBeUndefined();
});

it('tells the exact time with its zone to whoever hovers', async () => {
  chooseTimeZone('Asia/Shanghai');
  renderAt('/', '/', () => <Ago at={at} />);
  const [time] = await screen.findAllByTitle(/2026/);
  expect(time?.getAttribute('title')).toBe('Jul 2, 2026, 6:30:00 AM GMT+8');
});

it('reads and writes fields of time in the zone, also around a change of the clocks', () => {
  chooseTimeZone('Europe/Berlin');
  expect(zoneOffset(Date.parse(at))).toBe(2 * hour);
  for (const [iso, wall] of [
    ['2026-07-01T22:30:00.000Z', '2026-07-02T00:30'],
    ['2026-12-01T22:30:00.000Z', '2026-12-01T23:30'],
    ['2026-03-29T00:59:00.000Z', '2026-03-29T01:59'],
    ['2026-03-29T01:00:00.000Z', '2026-03-29T03:00'],
  ] as const) {
    expect(toWallClock(iso)).toBe(wall);
    expect(fromWallClock(wall)).toBe(iso);
  }
});
