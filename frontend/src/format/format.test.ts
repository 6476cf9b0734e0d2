import { describe, expect, it } from 'vitest';
import { elapsed, formatBytes, formatDuration, formatMetric, formatRelative, formatTime } from './format';

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [45_900, '45s'],
    [130_000, '2m 10s'],
    [3_600_000, '1h 0m'],
    [187_200_000, '2d 4h'],
  ])('%i ms is %s', (ms, text) => expect(formatDuration(ms, 'en')).toBe(text));

  it('speaks Chinese', () => expect(formatDuration(130_000, 'zh-CN')).toBe('2分钟 10秒'));
});

describe('elapsed', () => {
  const start = '2026-01-01T00:00:00Z';
  const now = Date.parse('2026-01-01T00:01:00Z');

  it('counts to now while there is no end', () => expect(elapsed(start, undefined, now)).toBe(60_000));
  it('counts to the end', () => expect(elapsed(start, '2026-01-01T00:00:10Z', now)).toBe(10_000));
  it('is never negative', () => expect(elapsed(start, undefined, now - 120_000)).toBe(0));
  it('is undefined before the start, and for nonsense', () => {
    expect(elapsed(undefined, undefined, now)).toBeUndefined();
    expect(elapsed('soon', undefined, now)).toBeUndefined();
  });
});

describe('formatMetric', () => {
  it.each([
    [134.66, 'RAW', '134.66'],
    [1146.2, 'RAW', '1,146.2'],
    [0.912345, 'PERCENTAGE', '91.235%'],
    [0, 'RAW', '0'],
    [0.0000123, 'RAW', '1.23E-5'],
    [-2.5, undefined, '-2.5'],
  ])('%d as %s is %s', (value, format, text) => expect(formatMetric(value, format, 'en')).toBe(text));
});

describe('formatTime', () => {
  it('is empty for none, for the epoch and for nonsense', () => {
    for (const time of [undefined, '', '1970-01-01T00:00:00Z', 'soon']) expect(formatTime(time, 'en')).toBe('');
  });
  it('names the year', () => expect(formatTime('2026-11-21T02:45:45Z', 'en')).toContain('2026'));
});

describe('formatBytes', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1658, '1.7 kB'],
    [33_554_433, '33.6 MB'],
  ])('%i is %s', (bytes, text) => expect(formatBytes(bytes, 'en')).toBe(text));
});

describe('formatRelative', () => {
  it.each([
    [0, 'now'],
    [-5_000, '5 seconds ago'],
    [-125_000, '2 minutes ago'],
    [7_300_000, 'in 2 hours'],
    [-90_000_000, 'yesterday'],
  ])('%i ms is %s', (ms, text) => expect(formatRelative(ms, 'en')).toBe(text));
});
