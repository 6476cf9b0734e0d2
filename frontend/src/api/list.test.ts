import { describe, expect, it } from 'vitest';
import { encodeFilter, listQuery, named, readListSearch } from './list';
import { many, parseSearch, stringifySearch } from './url';

describe('readListSearch', () => {
  it('drops what makes no sense', () => {
    expect(readListSearch({ q: '', sort: ['a'], dir: 'up', size: '7', page: '3' })).toEqual({
      q: undefined,
      sort: undefined,
      dir: undefined,
      size: undefined,
      token: undefined,
      page: undefined,
    });
  });
  it('keeps the page only with its token', () => {
    expect(readListSearch({ token: 't', page: '3' }).page).toBe(3);
    expect(readListSearch({ token: 't', page: '-1' }).page).toBeUndefined();
  });
});

describe('listQuery', () => {
  it('sorts by the fallback and filters by name', () => {
    const query = listQuery({ q: '100% "a"' }, { sort: 'created_at', dir: 'desc' }, named('100% "a"'));
    expect(query.sort_by).toBe('created_at desc');
    expect(query.page_size).toBe(20);
    expect(JSON.parse(decodeURIComponent(query.filter ?? ''))).toEqual({
      predicates: [{ op: 'IS_SUBSTRING', key: 'name', string_value: '100% "a"' }],
    });
  });
  it('has no filter without predicates', () => expect(encodeFilter([])).toBeUndefined());
});

describe('URL', () => {
  it('gives back what was put in', () => {
    const search = { q: '5', status: ['Failed', 'Error'], metrics: ['images/sec, total'] };
    const read = parseSearch(stringifySearch(search));
    expect(read).toEqual({ q: '5', status: ['Failed', 'Error'], metrics: 'images/sec, total' });
    expect(many(read.metrics)).toEqual(['images/sec, total']);
  });
  it('tells an empty choice from none', () => {
    expect(stringifySearch({ metrics: [], q: undefined })).toBe('?metrics=');
    expect(many(parseSearch('?metrics=').metrics)).toEqual([]);
    expect(many(parseSearch('').metrics)).toBeUndefined();
  });
});
