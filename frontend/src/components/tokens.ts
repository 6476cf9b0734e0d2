/** A custom property of ours, as the browser has it at the moment. */
export interface Token {
  name: string;
  value: string;
}

export const kinds = [
  'space',
  'text',
  'weight',
  'radius',
  'state',
  'series',
  'ground',
  'tide',
  'grey',
  'nav',
  'font',
] as const;

export type Kind = (typeof kinds)[number];

const prefix = '--ar-';
const states = /^(ok|run|bad|warn|idle|violet|danger|mark)(-|$)/;

/** What a token is for, by its name. */
export function kindOf(name: string): Kind {
  const own = name.slice(prefix.length);
  if (own === 'text') return 'ground';
  if (states.test(own)) return 'state';
  return kinds.find((kind) => own === kind || own.startsWith(`${kind}-`)) ?? 'ground';
}

/** All tokens that the style sheets of the page declare, with their values in the theme that is shown. */
export function readTokens(): Token[] {
  const names = new Set([...document.styleSheets].flatMap((sheet) => namesIn(sheet.cssRules)));
  const style = getComputedStyle(document.documentElement);
  return [...names].map((name) => ({ name, value: style.getPropertyValue(name).trim() }));
}

const namesIn = (rules: CSSRuleList): string[] =>
  [...rules].flatMap((rule) =>
    rule instanceof CSSStyleRule && rule.selectorText.startsWith(':root')
      ? Array.from({ length: rule.style.length }, (_, i) => rule.style.item(i)).filter((name) =>
          name.startsWith(prefix),
        )
      : [],
  );
