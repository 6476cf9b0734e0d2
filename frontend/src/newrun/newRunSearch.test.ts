import { expect, it } from 'vitest';
import { parseSearch, stringifySearch } from '../api/url';
import { readNewRunSearch, searchValues, valuesPatch } from './newRunSearch';

it('keeps values of parameters in the URL, whatever they hold', () => {
  const values = { workers: '4', note: '', 'a&b=c': '{"x": [1]}\n%20+', pipeline: 'not the pipeline' };
  const url = stringifySearch({ pipeline: 'p1', ...valuesPatch(values) });
  const read = readNewRunSearch(parseSearch(url));
  expect(searchValues(read)).toEqual(values);
  expect(read.pipeline).toBe('p1');
});

it('takes the last of several values, and loses a value that goes back', () => {
  const read = readNewRunSearch(parseSearch('?p.workers=1&p.workers=2&p.lr=3&other=x'));
  expect(searchValues(read)).toEqual({ workers: '2', lr: '3' });
  expect(searchValues({ ...read, ...valuesPatch({ lr: undefined }) })).toEqual({ workers: '2' });
});
