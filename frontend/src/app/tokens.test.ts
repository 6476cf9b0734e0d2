/* Sizes and colours stand in tokens.css alone: a value of another file's own is refused here. */
import { readFileSync } from 'node:fs';
import { colorsNamed } from 'culori';
import { describe, expect, it } from 'vitest';
import { styles, tokens } from '../test/styles';

const code = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });
const sheets = Object.entries(styles).filter(([file]) => file !== 'app/tokens.css');
const scripts = Object.entries(code).filter(([file]) => !/\.test\.tsx?$|schema\.d\.ts$|\/i18n\//.test(file));

const uncommented = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, '');

/** The declarations of a style sheet, whatever their rules. */
const declarations = (css: string) =>
  [...uncommented(css).matchAll(/(?:^|[;{}])\s*([a-z-]+):\s*([^;{}]+)(?=;)/g)].map(([, name = '', value = '']) => ({
    name,
    value: value.trim(),
  }));

const keyword = /^(0|auto|inherit|none|normal)$/;
const scales: [RegExp, RegExp][] = [
  [/^(padding|margin|gap|row-gap|column-gap)(-|$)/, /^-?var\(--ar-(space-\d+|nav-height|nav-width)\)$/],
  [/^font-size$/, /^var\(--ar-text-\w+\)$/],
  [/^font-weight$/, /^var\(--ar-weight-\w+\)$/],
  [/^font-family$/, /^var\(--ar-font(-code)?\)$/],
  [/border-radius$/, /^var\(--ar-radius-\w+\)$/],
];

/** The fault of a declaration, if it has one. */
function faultOf({ name, value }: { name: string; value: string }): string | undefined {
  const scale = scales.find(([names]) => names.test(name))?.[1];
  const odd = scale && value.split(/\s+(?![^(]*\))/).find((part) => !keyword.test(part) && !scale.test(part));
  if (odd) return `${name}: ${value} (${odd} is not of the scale)`;
  const words = value.replace(/var\([^)]*\)|"[^"]*"|url\([^)]*\)/g, '').split(/[^#\w-]+/);
  const colour = words.find((word) => /^#|^(rgb|hsl|hwb|lab|lch|oklab|oklch)a?$/.test(word) || word in colorsNamed);
  return colour && `${name}: ${value} (${colour} is a colour of its own)`;
}

// The face is declared once, under the name that tokens.css calls it by.
const exceptions = ['app/base.css: font-family', 'app/base.css: font-weight'];

describe('style sheets', () => {
  it.each([
    ['padding: 7px', true],
    ['margin: 0 auto var(--ar-space-8)', false],
    ['margin-top: 0.5rem', true],
    ['font-size: 13px', true],
    ['font-weight: 700', true],
    ['border-radius: 3px', true],
    ['background: #fff', true],
    ['color: white', true],
    ['box-shadow: 0 0 1px rgb(0 0 0 / 8%)', true],
    ['border: 1px solid var(--ar-line)', false],
    ['background: color-mix(in srgb, var(--ar-line) 25%, transparent)', false],
  ])('a test of the test: %s', (text, refused) => {
    expect(declarations(`a { ${text}; }`).map(faultOf).some(Boolean)).toBe(refused);
  });

  it('take sizes and colours from the tokens', () => {
    expect(sheets.length).toBeGreaterThan(20);
    const faults = sheets.flatMap(([file, css]) =>
      declarations(css)
        .filter(({ name }) => !exceptions.includes(`${file}: ${name}`))
        .flatMap((one) => faultOf(one) ?? [])
        .map((fault) => `${file}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });
});

describe('components', () => {
  const steps = [...tokens.matchAll(/--ar-space-(\d+):/g)].map(([, size]) => Number(size));

  it('take numbers of pixels from the scale', () => {
    const names = 'gap|rowGap|columnGap|[mp][trblxy]?|verticalSpacing|horizontalSpacing|fz';
    const faults = scripts.flatMap(([file, text]) =>
      [...text.matchAll(new RegExp(`\\s(${names})=\\{(-?[\\d.]+)\\}`, 'g'))]
        .filter(([, name, size]) => name === 'fz' || ![0, ...steps].includes(Number(size)))
        .map(([found]) => `${file}:${found}`),
    );
    expect(steps.length).toBeGreaterThan(5);
    expect(faults).toEqual([]);
  });

  it('have no colours of their own', () => {
    const faults = scripts.flatMap(([file, text]) =>
      [...text.matchAll(/['"`]\s*(#[0-9a-f]{3,8}|(rgb|hsl)a?\([^)]*\))/gi)].map(([, found]) => `${file}: ${found}`),
    );
    expect(faults).toEqual([]);
  });
});

it('every token that is used exists, and every one that exists is used', () => {
  const given = new Set([...tokens.matchAll(/^\s*(--ar-[\w-]+):/gm)].map(([, name]) => name));
  const all = [...sheets, ...scripts].map(([, text]) => text).concat(tokens.replace(/^\s*--ar-[\w-]+:/gm, ''));
  const used = new Set(all.flatMap((text) => text.match(/--ar-[a-z]+(-[a-z0-9]+)*(?![-\w$])/g) ?? []));
  for (const [, name] of (code['./theme.ts'] ?? '').matchAll(/token\('([\w-]+)'\)/g)) used.add(`--ar-${name}`);
  expect([...used].filter((name) => !given.has(name) && name !== '--ar-series')).toEqual([]);
  // Names that code puts together.
  const composed = /^--ar-(series|tide|grey|text|space|radius|weight)-/;
  expect([...given].filter((name) => name && !used.has(name) && !composed.test(name))).toEqual([]);
});

it('README lists every scale and colour with its value', () => {
  const readme = readFileSync('README.md', 'utf8');
  const pixels = (value: string) => value.replace(/^([\d.]+)rem$/, (_, rem) => `${Number(rem) * 16} px`);
  const sized = [...tokens.matchAll(/--ar-(?:space|text|weight|radius)-(\w+): ([^;]+);/g)];
  const missing = sized
    .map(([, name = '', value = '']) => `\`${name}\` ${pixels(value)}`)
    .concat(rowsOf('light', 'dark'))
    .filter((text) => !readme.includes(text));
  expect(missing).toEqual([]);
});

/** The rows of a table of the colours of two themes. */
function rowsOf(...schemes: [string, string]): string[] {
  const [light, dark] = schemes.map((scheme) => {
    const rule = tokens.split(`[data-mantine-color-scheme="${scheme}"] {`)[1]?.split('}')[0] ?? '';
    return new Map([...rule.matchAll(/--ar-([\w-]+): ([^;]+);/g)].map(([, name, value]) => [name, value]));
  });
  return [...(light ?? [])].map(([name, value]) => `| \`${name}\` | \`${value}\` | \`${dark?.get(name)}\` |`);
}
