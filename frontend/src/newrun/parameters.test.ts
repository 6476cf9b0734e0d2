import type { TFunction } from 'i18next';
import { describe, expect, it } from 'vitest';
import { notNumber, parameterValues, problemOf, suggestName } from './parameters';

describe('parameterValues', () => {
  it('takes what was typed, else what the cloned run had, else the default', () => {
    const declared = [{ name: 'a', value: '1' }, { name: 'b', value: '2' }, { name: 'c' }, { name: 'd', value: '4' }];
    const cloned = [{ name: 'a', value: 'x' }, { name: 'b', value: 'y' }, { name: 'd' }, { name: 'gone', value: 'z' }];
    expect(parameterValues(declared, { a: '' }, cloned).map(({ value }) => value)).toEqual(['', 'y', '', '']);
  });
});

describe('notNumber', () => {
  it.each([
    ['two', '1', true],
    ['', '1', true],
    ['2.5e-3', '1', false],
    ['anything', 'momentum', false],
  ])('%j beside %j: %s', (value, fallback, odd) => expect(notNumber(value, fallback)).toBe(odd));
});

it('suggests a name that sorts by time', () => {
  expect(suggestName('mpi_run', new Date(2026, 0, 2, 3, 4, 5))).toBe('mpi_run 2026-01-02 03:04:05');
});

describe('problemOf', () => {
  const t = ((key: string) => key) as unknown as TFunction;
  it.each([
    [{ type: 'Integer', min: 1, max: 100 }, ['1', '100'], ['abc', '', '1.5', '0', '101']],
    [{ type: 'Float', min: 0.1 }, ['0.1', '1e3'], ['0', 'x']],
    [{ type: 'Bool' }, ['true', 'False'], ['yes', '']],
    [{ type: 'JsonArray' }, ['[]', '[1, 2]'], ['{}', '1,2']],
    [{ type: 'JsonObject' }, ['{}'], ['[]', 'null', 'x']],
    [{ choices: ['sgd', 'adam'] }, ['sgd'], ['Adam', '']],
    [{ type: 'String' }, ['', 'anything'], []],
    [undefined, ['anything'], []],
  ])('%j', (rule, right, wrong) => {
    for (const value of right) expect(problemOf(rule, value, t)).toBeUndefined();
    for (const value of wrong) expect(problemOf(rule, value, t)).toMatch(/^newRun\.(mustBe|badJSON)$/);
  });
  it('tells a text that is no JSON from JSON of another kind', () => {
    expect(problemOf({ type: 'JsonArray' }, '[1,]', t)).toBe('newRun.badJSON');
    expect(problemOf({ type: 'JsonArray' }, '{}', t)).toBe('newRun.mustBe');
  });
  it('leaves what Argo fills in to Argo', () => {
    expect(problemOf({ type: 'Integer' }, '{{workflow.priority}}', t)).toBeUndefined();
  });
});
