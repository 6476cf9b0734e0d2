import type { TFunction } from 'i18next';
import type { Parameter } from '../api/client';
import type { ParameterRule } from '../pipelines/template';
import { jsonFault } from './jsonFault';

/** Values by name: what was typed, else what the cloned run had, else the default. */
export function parameterValues(
  declared: Parameter[],
  typed: Record<string, string>,
  cloned: Parameter[],
): { name: string; value: string; begin: string; fallback: string }[] {
  const before = new Map(cloned.map(({ name, value }) => [name, value ?? '']));
  return declared.map(({ name = '', value: fallback = '' }) => {
    const begin = before.get(name) ?? fallback;
    return { name, fallback, begin, value: typed[name] ?? begin };
  });
}

const number = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/** Whether a value looks wrong beside its default: the default is a number, and this is not. */
export const notNumber = (value: string, fallback: string) => number.test(fallback) && !number.test(value);

/** The types that not every value is of. */
type Checked = 'Integer' | 'Float' | 'Bool' | 'JsonArray' | 'JsonObject';

/** Why a value is none that a parameter may have, in words; undefined when it is. The server checks the same. */
export function problemOf(rule: ParameterRule | undefined, value: string, t: TFunction): string | undefined {
  if (!rule || value.includes('{{') || fits(rule, value)) return undefined;
  const place = /^Json/.test(rule.type ?? '') && !rule.choices?.length ? jsonFault(value) : undefined;
  const words = { rule: ruleWords(rule, t) };
  return place ? t('newRun.badJSON', { ...words, ...place }) : t('newRun.mustBe', words);
}

/** The field that suits a parameter. */
export type FieldKind = 'choice' | 'boolean' | 'number' | 'json' | 'long' | 'text';

// Longer texts than this are easier to read on more than one line.
const longText = 60;

export function fieldKind(rule: ParameterRule | undefined, value: string, fallback: string): FieldKind {
  // What Argo or a schedule fills in later can stand for a value of any type.
  const filledIn = /\{\{|\[\[[A-Z]/.test(value);
  if (!filledIn) {
    if (rule?.choices?.length) return 'choice';
    if (rule?.type === 'Bool') return /^(true|false)$/i.test(value) ? 'boolean' : 'text';
    if (rule?.type === 'Integer' || rule?.type === 'Float') return 'number';
    if (rule?.type === 'JsonArray' || rule?.type === 'JsonObject') return 'json';
  }
  return [value, fallback].some((text) => text.includes('\n') || text.length > longText) ? 'long' : 'text';
}

/** The range of a number, which its field says before anything is wrong. */
export const ruleHint = (rule: ParameterRule | undefined, t: TFunction) =>
  rule && (rule.min !== undefined || rule.max !== undefined) ? ruleWords(rule, t) : '';

/** A whole number counted up or down within its range; undefined when it is none. */
export function stepped(rule: ParameterRule | undefined, value: string, by: number): string | undefined {
  if (rule?.type !== 'Integer' || !/^[-+]?\d+$/.test(value) || !Number.isSafeInteger(Number(value))) return undefined;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule;
  return String(Math.min(max, Math.max(min, Number(value) + by)));
}

function ruleWords({ type, choices, min, max }: ParameterRule, t: TFunction): string {
  if (choices?.length) return t('newRun.rule.choices', { choices: choices.join(', ') });
  const kind = t(`newRun.rule.${type as Checked}`);
  if (min !== undefined && max !== undefined) return t('newRun.rule.range', { kind, min, max });
  if (min !== undefined) return t('newRun.rule.min', { kind, min });
  if (max !== undefined) return t('newRun.rule.max', { kind, max });
  return kind;
}

function fits(
  { type, choices, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: ParameterRule,
  value: string,
) {
  if (choices?.length) return choices.includes(value);
  const within = Number(value) >= min && Number(value) <= max;
  switch (type) {
    case 'Integer':
      return /^[-+]?\d+$/.test(value) && within;
    case 'Float':
      return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(value) && within;
    case 'Bool':
      return /^(true|false)$/i.test(value);
    case 'JsonArray':
      return Array.isArray(parsed(value));
    case 'JsonObject': {
      const object = parsed(value);
      return typeof object === 'object' && object !== null && !Array.isArray(object);
    }
  }
  return true;
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** A name for a run without one: the pipeline's name and the second. */
export function suggestName(pipeline: string, now: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  return `${pipeline} ${day} ${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}`;
}
