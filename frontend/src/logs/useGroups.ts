import { useMemo, useState } from 'react';
import { lineKey, type Place } from '../api/logs';
import { type Group, lastUpTo, shownLines } from './groups';
import type { Held } from './lines';

const keyOf = ({ log, first }: Group) => `${log}:${first}`;

/**
 * Which groups of lines are folded. A group that has ended is, unless a match of the search is in it; what the reader folds or opens stays so
 * while the page is open.
 */
export function useGroups(held: Held, hits: Place[]) {
  const { groups, inGroup, logs, dropped } = held;
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const hit = useMemo(() => withHits(groups ?? [], logs?.map(lineKey), hits), [groups, logs, hits]);
  const folded = (group: Group) =>
    group.at > dropped && (chosen.get(keyOf(group)) ?? (group.last !== undefined && !hit.has(keyOf(group))));
  // biome-ignore lint/correctness/useExhaustiveDependencies: folded is made of the others
  const rows = useMemo(() => shownLines(held, folded), [held, chosen, hit]);
  const set = (group: Group, fold: boolean) => setChosen((old) => new Map(old).set(keyOf(group), fold));
  const groupAt = (index: number) => groups?.[Math.abs(inGroup?.[index] ?? 0) - 1];
  const begins = (group: Group, index: number) => group.at === dropped + index + 1;

  return {
    /** The places of the lines that are shown; undefined when all are. */
    rows,
    /** The row of a line by its place; of one that is not shown, that of the last line before it that is. */
    rowOf: (index: number) => (rows ? lastUpTo(rows.length, (i) => rows[i] as number, index) : index),
    /** What a line that begins a group shows of it, and whether another line is in a group. */
    groupOn: (index: number) => {
      const group = groupAt(index);
      if (!group || !begins(group, index)) return { inside: group !== undefined };
      const { title, count } = group;
      const fold = folded(group);
      return { inside: false, group: { title, count, folded: fold, onToggle: () => set(group, !fold) } };
    },
    /** Opens the folded group that a line is in; false when it is in none. */
    reveal: (index: number) => {
      const group = groupAt(index);
      if (!group || begins(group, index) || !folded(group)) return false;
      set(group, false);
      return true;
    },
  };
}

/** The groups that matches are in; keys are the names of the logs, where there are several. */
function withHits(groups: Group[], keys: string[] | undefined, hits: Place[]): ReadonlySet<string> {
  const found = new Set<string>();
  if (groups.length === 0 || hits.length === 0) return found;
  const byLog = new Map<number, Group[]>();
  for (const group of groups) {
    const own = byLog.get(group.log);
    if (own) own.push(group);
    else byLog.set(group.log, [group]);
  }
  const places = new Map(keys?.map((key, i) => [key, i]));
  for (const { log, line } of hits) {
    const own = byLog.get(log === undefined ? 0 : (places.get(log) ?? -1)) ?? [];
    const group = own[lastUpTo(own.length, (i) => own[i]?.first as number, line)];
    if (group && line <= (group.last ?? line)) found.add(keyOf(group));
  }
  return found;
}
