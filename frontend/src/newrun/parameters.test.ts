import { describe, expect, it } from 'vitest';
import { notNumber, parameterValues, suggestName } from './parameters';

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
  expect(suggestName('mpi_run', new Date(2026, 0, 2, 3, 4))).toBe('mpi_run 2026-01-02 03:04');
});
