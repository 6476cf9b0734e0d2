/*
 * Whether colour-blind eyes tell colours apart: culori simulates such eyes (Machado, Oliveira and Fernandes 2009), and
 * CIEDE2000 measures how much two colours differ. From about 5 on, small areas of two colours are seen as different.
 */
import {
  type Color,
  differenceCiede2000,
  filterDeficiencyDeuter,
  filterDeficiencyProt,
  filterDeficiencyTrit,
  parse,
  wcagContrast,
} from 'culori';
import { describe, expect, it } from 'vitest';
import { seriesColours, seriesDash } from '../metrics/look';
import { tokens } from '../test/styles';

const eyes: Record<string, (colour: Color) => Color> = {
  'full colour vision': (colour) => colour,
  deuteranopia: filterDeficiencyDeuter(1),
  protanopia: filterDeficiencyProt(1),
  tritanopia: filterDeficiencyTrit(1),
};
const difference = differenceCiede2000();
const states = ['ok', 'run', 'bad', 'warn', 'idle'];
const grounds = ['canvas', 'surface', 'raised', 'log', 'run-bg'];

/** The colours of a theme by their names. */
function coloursOf(scheme: string): Record<string, string> {
  const rule = tokens.split(`[data-mantine-color-scheme="${scheme}"] {`)[1]?.split('}')[0] ?? '';
  return Object.fromEntries(
    [...rule.matchAll(/--ar-([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
  );
}

/** Pairs that are less different than they must be, for some eyes. */
function alike(pairs: [string, string][], colours: Record<string, string>, least: number): string[] {
  const seen = (name: string, eye: (colour: Color) => Color) => eye(parse(colours[name] as string) as Color);
  return Object.entries(eyes).flatMap(([who, eye]) =>
    pairs
      .map(([a, b]) => ({ a, b, by: difference(seen(a, eye), seen(b, eye)) }))
      .filter(({ by }) => by < least)
      .map(({ a, b, by }) => `${who}: ${a} and ${b} differ by ${by.toFixed(1)}`),
  );
}

const pairsOf = (names: string[]) => names.flatMap((a, i) => names.slice(i + 1).map((b): [string, string] => [a, b]));

describe.each(['light', 'dark'])('the %s theme', (scheme) => {
  const colours = coloursOf(scheme);
  const series = Array.from({ length: seriesColours }, (_, i) => `series-${i + 1}`);
  const place = (name: string) => series.indexOf(name);

  it('has every colour', () => {
    expect(Object.keys(colours)).toEqual(expect.arrayContaining([...series, ...states, ...grounds]));
  });

  it('has states that every eye tells apart', () => {
    expect(alike(pairsOf(states), colours, 10)).toEqual([]);
  });

  it('has lines that every eye tells from their neighbours, and from those with the same dashes', () => {
    const close = pairsOf(series).filter(([a, b]) => {
      const apart = place(b) - place(a);
      return apart === 1 || apart === seriesColours - 1 || seriesDash(place(a)) === seriesDash(place(b));
    });
    expect(close).toHaveLength(12);
    expect(alike(close, colours, 11)).toEqual([]);
    expect(alike(pairsOf(series), colours, 7)).toEqual([]);
  });

  it('has lines that stand out from every ground, and can be read as text', () => {
    const pale = series.flatMap((name) =>
      ['canvas', 'surface', 'log'].filter(
        (ground) => wcagContrast(colours[name] as string, colours[ground] as string) < 4.5,
      ),
    );
    expect(pale).toEqual([]);
  });

  it('has states that can be read on every ground, and on their own', () => {
    const pale = states.flatMap((name) =>
      [...grounds, `${name}-bg`]
        .filter((ground) => wcagContrast(colours[name] as string, colours[ground] as string) < 4.5)
        .map((ground) => `${name} on ${ground}`),
    );
    expect(pale).toEqual([]);
  });
});
