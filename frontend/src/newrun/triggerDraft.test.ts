import { describe, expect, it } from 'vitest';
import { draftTrigger, newTrigger, triggerDraft } from './triggerDraft';

describe('draftTrigger', () => {
  it('sends seconds, or the expression', () => {
    expect(draftTrigger({ ...newTrigger, count: '90', unit: 'minute' })).toMatchObject({ seconds: 5400 });
    expect(draftTrigger({ ...newTrigger, kind: 'cron', cron: ' @daily ' })).toMatchObject({ cron: '@daily' });
  });

  it.each([
    [{ count: '0' }],
    [{ count: 'many' }],
    [{ count: '0.5', unit: 'second' as const }],
    [{ kind: 'cron' as const, cron: 'daily' }],
    [{ start: '2026-01-02T00:00', end: '2026-01-01T00:00' }],
  ])('refuses %j', (part) => expect(draftTrigger({ ...newTrigger, ...part })).toBeUndefined());
});

it('begins with the trigger that there is', () => {
  const start = '2026-01-02T03:04:00.000Z';
  const draft = triggerDraft({ seconds: 7200, start });
  expect(draft).toMatchObject({ kind: 'period', count: '2', unit: 'hour', end: '' });
  expect(draftTrigger(draft)).toEqual({ seconds: 7200, start, end: undefined });
});
