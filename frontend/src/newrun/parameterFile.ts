import type { TFunction } from 'i18next';
import { type Document, isAlias, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import type { ParameterRule } from '../pipelines/template';
import { problemOf } from './parameters';

/** What a file with values gives. */
export interface FileValues {
  /** The values that can be taken over, by name. */
  values: Record<string, string>;
  faults: FileFault[];
}

export interface FileFault {
  /** Absent when the file as a whole is wrong. */
  line?: number;
  message: string;
}

/** Reads a mapping of names to values, JSON or YAML. A value that is wrong is left out and named with its line. */
export function readParameterFile(
  text: string,
  names: string[],
  rules: Record<string, ParameterRule>,
  t: TFunction,
): FileValues {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines });
  const lineOf = (offset: number | undefined) => (offset === undefined ? 1 : lines.linePos(offset).line);
  if (doc.errors.length > 0) {
    return {
      values: {},
      faults: doc.errors.map(({ message, pos }) => ({ line: lineOf(pos[0]), message: short(message) })),
    };
  }
  if (!isMap(doc.contents)) {
    return { values: {}, faults: [{ line: lineOf(doc.contents?.range?.[0]), message: t('newRun.file.noMapping') }] };
  }
  const read: FileValues = { values: {}, faults: [] };
  for (const { key, value } of doc.contents.items) {
    const name = isScalar(key) ? String(key.value) : String(key);
    const line = lineOf((key as { range?: [number, number, number] }).range?.[0]);
    const given = textOf(value, doc);
    const problem = names.includes(name)
      ? problemOf(rules[name], given, t)
      : t('newRun.file.unknown', { names: names.join(', ') });
    if (problem === undefined) read.values[name] = given;
    else read.faults.push({ line, message: t('newRun.file.fault', { name, problem }) });
  }
  return read;
}

/** A value as a parameter has it: a text as it is, a number as it is written, a list or a mapping as JSON. */
function textOf(node: unknown, doc: Document): string {
  const value = isAlias(node) ? node.resolve(doc) : node;
  if (!value) return '';
  if (!isScalar(value)) return JSON.stringify((value as { toJS: (doc: Document) => unknown }).toJS(doc));
  if (value.value === null) return '';
  return typeof value.value === 'string' ? value.value : (value.source ?? String(value.value));
}

// The library repeats the place, and shows the lines.
const short = (message: string) => message.replace(/ at line \d+, column \d+:[\s\S]*$/, '');
