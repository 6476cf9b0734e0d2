import { type Axis, places } from './measure';

/** A range of an axis: the runs in it are selected. An end that is not said is open. */
export interface Brush {
  key: string;
  from?: number;
  to?: number;
}

/** Reads FROM~TO~AXIS. Words of an axis count from 0 in their order. */
export function readBrush(text: string): Brush | undefined {
  const [from = '', to = '', ...rest] = text.split('~');
  const key = rest.join('~');
  const ends = [from, to].map((end) => (end.trim() === '' ? undefined : Number(end)));
  if (!key || ends.some(Number.isNaN) || ends.every((end) => end === undefined)) return undefined;
  return { key, from: ends[0], to: ends[1] };
}

export const writeBrush = ({ key, from, to }: Brush) => `${from ?? ''}~${to ?? ''}~${key}`;

/** The ranges as the address has them, with another one for an axis, or with none. */
export function withBrush(texts: string[] | undefined, key: string, range?: Omit<Brush, 'key'>): string[] | undefined {
  const others = (texts ?? []).filter((text) => readBrush(text)?.key !== key);
  const said = range && (range.from !== undefined || range.to !== undefined);
  const all = said ? [...others, writeBrush({ key, ...range })] : others;
  return all.length > 0 ? all : undefined;
}

/** The runs that lie in the ranges of all axes; undefined where no axis has one. A run without a value lies in none. */
export function selectedRuns(axes: Axis[], brushes: Brush[]): Set<string> | undefined {
  let selected: Set<string> | undefined;
  for (const { key, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } of brushes) {
    const axis = axes.find((one) => one.key === key);
    if (!axis) continue;
    const inside = [...places(axis).at].filter(([, value]) => value >= from && value <= to).map(([run]) => run);
    selected = new Set(selected ? inside.filter((run) => selected?.has(run)) : inside);
  }
  return selected;
}
