import { expect, it } from 'vitest';
import { seriesColours, seriesDash, seriesStroke } from './look';

it('gives every one of 32 lines a look of its own', () => {
  expect(new Set(Array.from({ length: 32 }, (_, i) => JSON.stringify(seriesStroke(i)))).size).toBe(32);
});

it('gives neighbours different dashes', () => {
  for (let i = 0; i < 4 * seriesColours; i++) expect(seriesDash(i)).not.toEqual(seriesDash(i + 1));
});
