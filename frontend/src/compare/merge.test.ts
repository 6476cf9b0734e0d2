import { expect, it } from 'vitest';
import { areaUnder, mergeTables, mergeVisuals, rocPoints } from './merge';

const inline = { storage: 'inline' };

it('puts together what steps of the same name left, in their order, and leaves out what is not here', () => {
  const roc = { ...inline, type: 'roc', step_name: 'eval' };
  const merged = mergeVisuals([
    { run_id: 'a', visuals: [roc, { ...roc, source: 'second' }, { ...inline, type: 'table', step_name: 'eval' }] },
    { run_id: 'b', visuals: [roc, { type: 'table', step_name: 'eval', source: 'gs://elsewhere' }] },
    { run_id: 'c' },
  ]);
  expect(merged.map(({ key, visuals }) => [key, [...visuals.keys()]])).toEqual([
    ['roc/eval/1', ['a', 'b']],
    ['roc/eval/2', ['a']],
    ['table/eval/1', ['a']],
  ]);
});

it('measures the area under a curve, whatever the order of its points', () => {
  expect(areaUnder(rocPoints('1,1,0\n0,0,1\nbad,line\n'))).toBe(0.5);
  expect(areaUnder(rocPoints('0,0,1\n0,1,0.5\n1,1,0\n'))).toBe(1);
  expect(areaUnder([])).toBe(0);
});

it('lays tables with other columns over each other', () => {
  const table = (source: string, header?: string[]) => ({ ...inline, source, header });
  expect(
    mergeTables(
      new Map([
        ['a', table('cat,0.9\ndog,0.8\n', ['class', 'f1'])],
        ['b', table('class,recall\ncat,0.7\n')],
      ]),
    ),
  ).toEqual({
    columns: ['class', 'f1', 'recall'],
    rows: [
      { run: 'a', cells: ['cat', '0.9', ''] },
      { run: 'b', cells: ['cat', '', '0.7'] },
      { run: 'a', cells: ['dog', '0.8', ''] },
    ],
  });
});
