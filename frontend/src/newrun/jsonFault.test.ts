import { expect, it } from 'vitest';
import { jsonFault } from './jsonFault';

it.each([
  ['{"a": 1,\n "b": x}', { line: 2, column: 7 }],
  ['[1,\n', { line: 2, column: 1 }],
  ['', { line: 1, column: 1 }],
  ['[1 2]', { line: 1, column: 4 }],
  ['{"a": 1,}', { line: 1, column: 9 }],
  ["{'a': 1}", { line: 1, column: 2 }],
  ['[01]', { line: 1, column: 2 }],
  ['{} x', { line: 1, column: 4 }],
])('finds where %j stops being JSON', (text, place) => expect(jsonFault(text)).toEqual(place));

it.each(['{"a": [1, -2.5e+3, "\\u00e9\\n", {}], "b": null}', ' [] ', 'true', '"a"', '[0, 10]'])('takes %j', (text) => {
  JSON.parse(text);
  expect(jsonFault(text)).toBeUndefined();
});
