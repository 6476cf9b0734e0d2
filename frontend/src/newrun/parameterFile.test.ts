import type { TFunction } from 'i18next';
import { expect, it } from 'vitest';
import { readParameterFile } from './parameterFile';

const t = ((key: string, { name, problem }: Record<string, string> = {}) =>
  name ? `${name}: ${problem}` : key) as unknown as TFunction;
const names = ['workers', 'rate', 'shuffle', 'layers', 'options', 'note', 'text'];
const rules = {
  workers: { type: 'Integer', min: 1, max: 8 },
  rate: { type: 'Float' },
  shuffle: { type: 'Bool' },
  layers: { type: 'JsonArray' },
  options: { type: 'JsonObject' },
};
const read = (text: string) => readParameterFile(text, names, rules, t);

it('reads YAML: numbers as they are written, lists and mappings as JSON', () => {
  const text = `# a sweep
workers: 4
rate: 1e-3
shuffle: True
layers: [64, "x"]
options: {a: {b: 1}}
note:
text: |
  two
  lines
`;
  expect(read(text)).toEqual({
    values: {
      workers: '4',
      rate: '1e-3',
      shuffle: 'True',
      layers: '[64,"x"]',
      options: '{"a":{"b":1}}',
      note: '',
      text: 'two\nlines\n',
    },
    faults: [],
  });
});

it('reads JSON', () => {
  expect(read('{"workers": 2, "layers": "[1]", "text": "a: b"}')).toEqual({
    values: { workers: '2', layers: '[1]', text: 'a: b' },
    faults: [],
  });
});

it('names unknown names and wrong values with their lines, and takes the others', () => {
  expect(read('workers: 9\n\nworkrs: 2\nlayers: {a: 1}\nrate: 0.5\n')).toEqual({
    values: { rate: '0.5' },
    faults: [
      { line: 1, message: 'workers: newRun.mustBe' },
      { line: 3, message: 'workrs: newRun.file.unknown' },
      { line: 4, message: 'layers: newRun.mustBe' },
    ],
  });
});

it.each([
  ['workers: 1\nworkers: 2', 2],
  ['workers: [1\nrate: 2', 2],
  ['- workers', 1],
  ['', 1],
])('takes nothing of %j', (text, line) => {
  const { values, faults } = read(text);
  expect(values).toEqual({});
  expect(faults[0]?.line).toBe(line);
  expect(faults[0]?.message).not.toContain('at line');
});
