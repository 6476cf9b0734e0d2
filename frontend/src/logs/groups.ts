import type { Held } from './lines';

/** Lines of one log between two marks, which are shown as one. */
export interface Group {
  title: string;
  /** The log that it is of, by its place among several. */
  log: number;
  /** The lines with its marks, by their numbers in that log; no last one while the group goes on. */
  first: number;
  last?: number;
  /** The number of its first line among those of all logs. */
  at: number;
  /** How many lines are between the marks. */
  count: number;
}

// As GitHub Actions and Azure Pipelines write them.
const begins = /^(?:::group::|##\[group\])(.*)$/;
const ends = /^(?:::endgroup::|##\[endgroup\])/;

// What the marks begin with: most lines are passed over by their first character.
const colon = 58;
const hash = 35;

/**
 * The groups of a log that grows, or of several as one: marks are found as lines come, and no line is looked at twice. Each log has groups of
 * its own. Groups do not nest: one ends where the next begins.
 */
export class Groups {
  private all: Group[] = [];
  /** By log: the group that has not ended, by its place from 1. */
  private readonly open = new Map<number, number>();
  /** The group of each line that is held, as Held has it; none before the first mark. */
  private inGroup: number[] | undefined;

  /** Takes in the next line: its number in its log, and among all. */
  add(text: string, line: number, at: number, held: number, log = 0) {
    const first = text.charCodeAt(0);
    const mark = first === colon || first === hash;
    const title = mark ? begins.exec(text)?.[1] : undefined;
    const inside = this.open.get(log) ?? 0;
    if (title !== undefined) {
      this.close(log, line - 1);
      this.all.push({ title: title.trim(), log, first: line, at, count: 0 });
      this.open.set(log, this.all.length);
      this.inGroup ??= new Array(held - 1).fill(0);
      this.inGroup.push(this.all.length);
    } else if (inside > 0 && mark && ends.test(text)) {
      this.close(log, line);
      this.inGroup?.push(-inside);
    } else {
      const group = this.all[inside - 1];
      if (group) group.count++;
      this.inGroup?.push(inside);
    }
  }

  private close(log: number, last: number) {
    const group = this.all[(this.open.get(log) ?? 0) - 1];
    if (group) group.last = last;
    this.open.delete(log);
  }

  /** Forgets the first lines, and the groups that have none left. */
  drop(count: number) {
    if (!this.inGroup || count === 0) return;
    let least = this.all.length + 1;
    for (const id of this.open.values()) least = Math.min(least, id);
    const rest = this.inGroup.slice(count);
    for (const id of rest) if (id !== 0) least = Math.min(least, Math.abs(id));
    const gone = least - 1;
    this.all = this.all.slice(gone);
    this.inGroup = rest.map((id) => id - gone * Math.sign(id));
    for (const [log, id] of this.open) this.open.set(log, id - gone);
  }

  /** New arrays each time; growing is for a last line that has no end yet, of the only log. */
  held(growing = false): Pick<Held, 'groups' | 'inGroup'> {
    if (!this.inGroup) return {};
    const inGroup = growing ? [...this.inGroup, this.open.get(0) ?? 0] : this.inGroup.slice();
    return { groups: this.all.slice(), inGroup };
  }
}

/** The groups of a part of a log, by the number of its first line. */
export function groupsOf(lines: string[], first: number): Pick<Held, 'groups' | 'inGroup'> {
  const groups = new Groups();
  lines.forEach((text, i) => void groups.add(text, first + i, first + i, i + 1));
  return groups.held();
}

/**
 * Which of the held lines are shown, by their places; undefined when all are. The second mark of a group never is, and the lines of a group whose
 * first mark is not held any more are.
 */
export function shownLines(held: Held, folded: (group: Group) => boolean): number[] | undefined {
  const { groups, inGroup, dropped } = held;
  if (!groups || !inGroup) return undefined;
  const hidden = groups.map((group) => group.at > dropped && folded(group));
  const rows: number[] = [];
  inGroup.forEach((id, i) => {
    if (id === 0 || (id > 0 && (!hidden[id - 1] || groups[id - 1]?.at === dropped + i + 1))) rows.push(i);
  });
  return rows;
}

/** The place of the last of ascending numbers that is not greater; -1 when all are. */
export function lastUpTo(count: number, numberAt: (place: number) => number, most: number): number {
  let from = 0;
  let to = count;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (numberAt(middle) <= most) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
