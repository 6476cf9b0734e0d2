import type { Parameter } from '../api/client';

/** Values by name: what was typed, else what the cloned run had, else the default. */
export function parameterValues(
  declared: Parameter[],
  typed: Record<string, string>,
  cloned: Parameter[],
): { name: string; value: string; fallback: string }[] {
  const before = new Map(cloned.map(({ name, value }) => [name, value ?? '']));
  return declared.map(({ name = '', value: fallback = '' }) => ({
    name,
    fallback,
    value: typed[name] ?? before.get(name) ?? fallback,
  }));
}

const number = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i;

/** Whether a value looks wrong beside its default: the default is a number, and this is not. */
export const notNumber = (value: string, fallback: string) => number.test(fallback) && !number.test(value);

/** A name for a run that nobody named: the pipeline's, and the minute. */
export function suggestName(pipeline: string, now: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  return `${pipeline} ${day} ${two(now.getHours())}:${two(now.getMinutes())}`;
}
