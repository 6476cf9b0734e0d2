import type { Schema } from './client';

/** The names that a search of runs can use. */
export type RunFields = Schema['argosy.v1.ListRunFieldsResponse'];

/** What ListRuns takes of a search line. */
export interface RunTerms {
  status: string[];
  parameter: string[];
  metric: string[];
  label: string[];
  time: string[];
  text?: string;
  /** Names whose ids the server has to look up. */
  experiment?: string;
  pipeline?: string;
}

/** Something in a search line that cannot be asked for, and why. */
export interface SearchProblem {
  word: string;
  /** Where the word begins in the line, counted from 1. */
  at: number;
  why: 'status' | 'labelOrder' | 'number' | 'time' | 'unknown' | 'value';
}

/** A word of the line with its place; quotes around a part of it are gone from the text. */
export interface Word {
  text: string;
  from: number;
  to: number;
}

/** Takes a line apart at its spaces; what stands in double quotes is kept together. */
export function wordsOf(line: string): Word[] {
  return [...line.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map((found) => ({
    text: found[0].replaceAll('"', ''),
    from: found.index,
    to: found.index + found[0].length,
  }));
}

/** A value as it can stand in a line. */
export const quoted = (value: string) => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value);

/** What is known of a metric's curve as a whole: it stands for a metric in columns, orders and searches, as in min(loss). */
export type Figure = (typeof figures)[number];
const figures = ['last', 'min', 'max'] as const;
export const figureName = /^(last|min|max)\((.+)\)$/;

/** The names of the figures of a curve. */
export const figuresOf = (curve: string) => figures.map((figure) => `${figure}(${curve})`);

/** All that runs can be compared by as numbers: their metrics, and the figures of their curves. */
const numbersOf = ({ metrics = [], curves = [] }: RunFields) => [...metrics, ...curves.flatMap(figuresOf)];

const operators = /(!=|>=|<=|~|=|>|<)/;
const keyed = /^(status|experiment|pipeline|label|param|parameter|metric):(.*)$/i;

const timed = /^(created|started|finished)(>=|<=|>|<|=)(.*)$/i;

/** What a line searches for, and what of it cannot be searched. */
export function parseSearchLine(line: string, fields: RunFields): { terms: RunTerms; problems: SearchProblem[] } {
  const terms: RunTerms = { status: [], parameter: [], metric: [], label: [], time: [] };
  const problems: SearchProblem[] = [];
  const texts: string[] = [];
  for (const { text: word, from } of wordsOf(line)) {
    const why = take(word, terms, texts, fields);
    if (why) problems.push({ word, at: from + 1, why });
  }
  if (texts.length > 0) terms.text = texts.join(' ');
  return { terms, problems };
}

function take(word: string, terms: RunTerms, texts: string[], fields: RunFields): SearchProblem['why'] | undefined {
  const [, field, compared, time] = timed.exec(word) ?? [];
  if (field) return takeTime(field.toLowerCase(), compared ?? '', time ?? '', terms.time);
  const [, key, rest = ''] = keyed.exec(word) ?? [];
  switch (key?.toLowerCase()) {
    case 'status':
      return takeStatus(rest, terms, fields);
    case 'experiment':
      terms.experiment = rest;
      return rest ? undefined : 'value';
    case 'pipeline':
      terms.pipeline = rest;
      return rest ? undefined : 'value';
    case 'label':
      return takeText(rest, terms.label);
    case 'param':
    case 'parameter':
      return takeParameter(rest, terms.parameter);
    case 'metric':
      return takeNumber(rest, terms.metric);
  }
  const [name = '', operator] = word.split(operators);
  if (!operator || !name) {
    texts.push(word);
    return undefined;
  }
  if (numbersOf(fields).includes(name) && operator !== '~') return takeNumber(word, terms.metric);
  if (fields.parameters?.includes(name)) return takeParameter(word, terms.parameter);
  if (fields.labels?.includes(name)) return takeText(word, terms.label);
  return 'unknown';
}

function takeStatus(rest: string, terms: RunTerms, fields: RunFields): SearchProblem['why'] | undefined {
  for (const asked of rest.split(',')) {
    const known = fields.statuses?.find((status) => status.toLowerCase() === asked.toLowerCase());
    if (!known) return 'status';
    terms.status.push(known);
  }
  return undefined;
}

function takeText(term: string, into: string[]): SearchProblem['why'] | undefined {
  const [name, operator] = term.split(operators);
  if (!name || !operator) return 'value';
  if (isOrder(operator)) return 'labelOrder';
  into.push(term);
  return undefined;
}

const isOrder = (operator: string) => /[<>]/.test(operator);

/** Parameters are texts, and numbers where an order is asked for. */
const takeParameter = (term: string, into: string[]) =>
  isOrder(operators.exec(term)?.[0] ?? '') ? takeNumber(term, into) : takeText(term, into);

const age = /^\d{1,5}[mhdw]$/;

/** An age goes to the server as it is; days and times of a clock are those of the reader. */
function takeTime(field: string, operator: string, value: string, into: string[]): SearchProblem['why'] | undefined {
  if (age.test(value)) {
    if (operator === '=') return 'time';
    into.push(field + operator + value);
    return undefined;
  }
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
  const moment = new Date(isDay ? `${value}T00:00` : value);
  if (!/^\d{4}-\d\d-\d\d/.test(value) || Number.isNaN(moment.getTime())) return 'time';
  into.push(field + operator + (isDay ? value + zoneAt(moment) : moment.toISOString()));
  return undefined;
}

/** The offset of the reader's zone, such as +08:00. */
function zoneAt(moment: Date): string {
  const minutes = -moment.getTimezoneOffset();
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

function takeNumber(term: string, into: string[]): SearchProblem['why'] | undefined {
  const [name, operator, ...value] = term.split(operators);
  if (!name || !operator || operator === '~') return 'value';
  const number = value.join('').trim();
  if (number === '' || !Number.isFinite(Number(number))) return 'number';
  into.push(term);
  return undefined;
}

/** A way to go on with the last word of a line. */
export interface Completion {
  /** What the last word becomes. */
  word: string;
  /** Whether the word is then whole, so that a space follows. */
  whole: boolean;
  /** How long ago the word asks for, and whether for less than that. */
  age?: { of: string; less: boolean };
}

// Ages that are offered.
const ages = ['1h', '1d', '7d', '30d'];

/** The ways to go on with the word that is being typed, out of the names that there are. */
export function completions(
  typed: string,
  fields: RunFields,
  known: { experiments: string[]; pipelines: string[] },
): Completion[] {
  const [, field, compared = '', time = ''] = timed.exec(typed) ?? [];
  if (field) {
    return ages
      .filter((of) => of.startsWith(time) && compared !== '=')
      .map((of) => ({ word: field + compared + of, whole: true, age: { of, less: compared.startsWith('>') } }));
  }
  const [, key = '', rest = ''] = keyed.exec(typed) ?? [];
  const fits = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
  const values = (prefix: string, all: string[] = []) =>
    all.filter((value) => fits(value, rest)).map((value) => ({ word: prefix + quoted(value), whole: true }));
  const begun = (all: string[] | undefined, write: (name: string) => string, part: string) =>
    (all ?? []).filter((name) => fits(name, part)).map((name) => ({ word: write(quoted(name)), whole: false }));
  switch (key.toLowerCase()) {
    case 'status':
      return values('status:', fields.statuses);
    case 'experiment':
      return values('experiment:', known.experiments);
    case 'pipeline':
      return values('pipeline:', known.pipelines);
    case 'label':
      return begun(fields.labels, (name) => `label:${name}=`, rest);
    case 'param':
    case 'parameter':
      return [
        ...begun(fields.parameters, (name) => `param:${name}=`, rest),
        ...begun(fields.parameters, (name) => `param:${name}>=`, rest),
      ];
    case 'metric':
      return begun(numbersOf(fields), (name) => `metric:${name}>`, rest);
  }
  const keys = [
    'status:',
    'experiment:',
    'pipeline:',
    'label:',
    'param:',
    'metric:',
    'created>',
    'started>',
    'finished>',
  ];
  return [
    ...keys.filter((word) => word.startsWith(typed.toLowerCase())).map((word) => ({ word, whole: false })),
    ...(typed
      ? [
          ...begun(numbersOf(fields), (name) => `${name}>`, typed),
          ...begun(fields.parameters, (name) => `${name}=`, typed),
          ...begun(fields.parameters, (name) => `${name}>=`, typed),
          ...begun(fields.labels, (name) => `label:${name}=`, typed),
        ]
      : []),
  ];
}
