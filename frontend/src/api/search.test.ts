import { describe, expect, it } from 'vitest';
import { completions, parseSearchLine, wordsOf } from './search';

const fields = {
  statuses: ['Accepted', 'Running', 'Failed'],
  parameters: ['workers', 'lr'],
  metrics: ['images/sec'],
  labels: ['team'],
};

describe('parseSearchLine', () => {
  it('tells metrics, parameters and labels apart by their names', () => {
    const line =
      'status:failed,running workers=4 lr<=1e-2 images/sec>=1000 team!=vision lr~0.0 label:odd=1 nightly run';
    expect(parseSearchLine(line, fields)).toEqual({
      problems: [],
      terms: {
        status: ['Failed', 'Running'],
        parameter: ['workers=4', 'lr<=1e-2', 'lr~0.0'],
        metric: ['images/sec>=1000'],
        label: ['team!=vision', 'odd=1'],
        time: [],
        text: 'nightly run',
      },
    });
  });

  it('takes the figures of curves as numbers', () => {
    const curved = { ...fields, curves: ['loss'] };
    expect(parseSearchLine('min(loss)<0.1 metric:last(loss)>2', curved)).toMatchObject({
      problems: [],
      terms: { metric: ['min(loss)<0.1', 'last(loss)>2'] },
    });
    expect(parseSearchLine('min(images/sec)<1', curved).problems).toEqual([
      { word: 'min(images/sec)<1', at: 1, why: 'unknown' },
    ]);
    const offered = completions('loss', curved, { experiments: [], pipelines: [] }).map(({ word }) => word);
    expect(offered).toEqual(['last(loss)>', 'min(loss)>', 'max(loss)>']);
  });

  it('keeps what stands in quotes together', () => {
    expect(parseSearchLine('experiment:"my tests" pipeline:mpi', fields).terms).toMatchObject({
      experiment: 'my tests',
      pipeline: 'mpi',
    });
  });

  it.each([
    ['status:bad', 'status'],
    ['workers>=many', 'number'],
    ['workers>', 'number'],
    ['team>=4', 'labelOrder'],
    ['images/sec>fast', 'number'],
    ['nothing=1', 'unknown'],
    ['experiment:', 'value'],
    ['label:team', 'value'],
    ['created>', 'time'],
    ['created>2y', 'time'],
    ['started=2d', 'time'],
    ['finished<2026-13-01', 'time'],
  ])('says why %s cannot be searched', (line, why) => {
    expect(parseSearchLine(line, fields).problems).toEqual([{ word: line, at: 1, why }]);
  });

  it('takes ages as they are, and days and clocks as those of the reader', () => {
    const line = 'created>2d Started<=12h finished<2026-11-01 created>=2026-11-01T10:30 created>2026-11-01T10:30:00Z';
    const { terms, problems } = parseSearchLine(line, { ...fields, parameters: ['created'] });
    expect(problems).toEqual([]);
    const [age, other, day = '', clock, exact] = terms.time;
    expect([age, other]).toEqual(['created>2d', 'started<=12h']);
    expect(day).toMatch(/^finished<2026-11-01[+-]\d\d:\d\d$/);
    const midnight = new Date(2026, 10, 1).getTime();
    expect(Date.parse(`2026-11-01T00:00:00${day.slice(-6)}`)).toBe(midnight);
    expect(clock).toBe(`created>=${new Date(2026, 10, 1, 10, 30).toISOString()}`);
    expect(exact).toBe('created>2026-11-01T10:30:00.000Z');
  });

  it('says where in the line', () => {
    expect(parseSearchLine('workers=4  "a b" lr>=x', fields).problems).toEqual([
      { word: 'lr>=x', at: 18, why: 'number' },
    ]);
  });
});

describe('completions', () => {
  const known = { experiments: ['my tests'], pipelines: ['mpi_run'] };
  const words = (typed: string) => completions(typed, fields, known).map(({ word }) => word);

  it('offers the keys for nothing, and names for a part of them', () => {
    expect(words('')).toContain('status:');
    expect(words('w')).toEqual(['workers=', 'workers>=']);
    expect(words('ima')).toEqual(['images/sec>']);
    expect(words('st')).toEqual(['status:', 'started>']);
  });

  it('offers ages after a time, and says how they read', () => {
    expect(words('fin')).toEqual(['finished>']);
    expect(completions('created>7', fields, known)).toEqual([
      { word: 'created>7d', whole: true, age: { of: '7d', less: true } },
    ]);
    expect(completions('created<', fields, known)[0]?.age).toEqual({ of: '1h', less: false });
  });

  it('offers values after a key, in quotes where they need them', () => {
    expect(words('status:f')).toEqual(['status:Failed']);
    expect(words('experiment:')).toEqual(['experiment:"my tests"']);
  });
});

it('knows where words lie', () => {
  expect(wordsOf('a  "b c"d').map(({ text, from, to }) => [text, from, to])).toEqual([
    ['a', 0, 1],
    ['b cd', 3, 9],
  ]);
});
