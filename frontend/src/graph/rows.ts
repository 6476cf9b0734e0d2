import { nodeHeight, nodeWidth, type Placed } from './layout';
import type { Steps } from './model';
import { ordered, spread } from './rowOrder';

/** A piece of an edge: through the gap below a row, or straight down through a row, where no step stands. */
export interface Piece {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  /** The height at which it runs beside others with the same end; absent for a curve. */
  bus?: number;
}

export interface Row {
  y: number;
  /** From left to right. */
  steps: Placed[];
  /** What passes this row and what leads from it to the next. */
  pieces: Piece[];
}

export const rowHeight = nodeHeight + 44;
const passWidth = 10;
// So many steps stand beside each other at least before a level gets more rows.
const leastWidth = 24;

/** What stands in a row: a step, or the room through which edges pass to a later row. */
export interface Item {
  /** The number of the step; absent for a passage. */
  step?: number;
  row: number;
  width: number;
  above: Item[];
  below: Item[];
  x: number;
}

/**
 * Places many steps in rows, each below those that it waits for. A level that is wider than the drawing is high gets
 * several rows. Edges from one step, or to one step, share a passage through each row between. The time grows with the
 * number of steps and edges, where dagre's grows with its square.
 */
export function placeRows(graph: Steps): Row[] {
  const { parents, children } = neighbours(graph);
  const items = itemsOf(inOrder(graph, levels(parents, children)), parents, children);
  const rows = ordered(items);
  spread(rows);
  return rows.map((row, number) => {
    const y = number * rowHeight;
    const steps: Placed[] = [];
    const pieces: Piece[] = [];
    for (const [i, item] of row.entries()) {
      const { step, x, below } = item;
      if (step === undefined) pieces.push({ x0: x, y0: y, x1: x, y1: y + nodeHeight });
      else steps.push({ id: graph.steps[step]?.id ?? '', x: x - nodeWidth / 2, y });
      for (const next of below) {
        const bus = y + nodeHeight + busOf(item, i, next);
        pieces.push({
          x0: x,
          y0: y + nodeHeight,
          x1: next.x,
          y1: y + rowHeight,
          bus: Number.isNaN(bus) ? undefined : bus,
        });
      }
    }
    return { y, steps, pieces };
  });
}

// Where more than so many edges meet, they share a line.
const fewEdges = 3;

/** How far below a row the shared line runs, if there is one: not the same for neighbours, whose lines may overlap. */
function busOf(item: Item, place: number, next: Item): number {
  if (item.below.length > fewEdges) return 14 + (place % 3) * 5;
  return next.above.length > fewEdges ? 29 : Number.NaN;
}

/** The numbers of the steps before and after each, without circles: an edge that leads back is turned. */
function neighbours({ steps, edges }: Steps) {
  const numbers = new Map(steps.map(({ id }, i) => [id, i]));
  const next = steps.map(() => new Set<number>());
  for (const { from, to } of edges) {
    const a = numbers.get(from);
    const b = numbers.get(to);
    if (a !== undefined && b !== undefined && a !== b) next[a]?.add(b);
  }
  const parents = steps.map(() => new Set<number>());
  const children = steps.map(() => new Set<number>());
  const join = (from: number, to: number) => {
    children[from]?.add(to);
    parents[to]?.add(from);
  };
  // Depth first; what leads to a step that is still open leads back.
  const state = new Uint8Array(steps.length);
  for (let start = 0; start < steps.length; start++) {
    if (state[start]) continue;
    const open = [{ at: start, ahead: [...(next[start] ?? [])] }];
    state[start] = 1;
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const to = top.ahead.pop();
      if (to === undefined) {
        state[top.at] = 2;
        open.pop();
      } else if (state[to] === 1) join(to, top.at);
      else {
        join(top.at, to);
        if (!state[to]) {
          state[to] = 1;
          open.push({ at: to, ahead: [...(next[to] ?? [])] });
        }
      }
    }
  }
  return { parents, children };
}

/** The steps of each level: one more than the deepest step before. */
function levels(parents: Set<number>[], children: Set<number>[]): number[][] {
  const waits = parents.map((before) => before.size);
  const deep = new Int32Array(parents.length);
  const found: number[][] = [];
  const ready = waits.flatMap((count, step) => (count === 0 ? [step] : []));
  for (let i = 0; i < ready.length; i++) {
    const step = ready[i] as number;
    const level = deep[step] as number;
    found[level] ??= [];
    found[level].push(step);
    for (const next of children[step] ?? []) {
      deep[next] = Math.max(deep[next] as number, level + 1);
      waits[next] = (waits[next] as number) - 1;
      if (waits[next] === 0) ready.push(next);
    }
  }
  return found;
}

/** The levels with their steps by name: the passes of a loop in its order. */
function inOrder({ steps }: Steps, found: number[][]): number[][] {
  const { compare } = new Intl.Collator('en', { numeric: true });
  for (const level of found) {
    level.sort((a, b) => compare(steps[a]?.name ?? '', steps[b]?.name ?? '') || a - b);
  }
  return found;
}

/** Deals the levels out to rows, and makes the passages. */
function itemsOf(found: number[][], parents: Set<number>[], children: Set<number>[]): Item[] {
  const count = parents.length;
  // Twice as wide as high.
  const widest = Math.max(leastWidth, Math.ceil(Math.sqrt((2 * count * rowHeight) / (nodeWidth + 24))));
  const items: Item[] = [];
  let row = 0;
  for (const level of found) {
    const rows = Math.ceil(level.length / widest);
    const each = Math.ceil(level.length / rows);
    beside(level, parents, items).forEach((step, i) => {
      items[step] = { step, row: row + Math.floor(i / each), width: nodeWidth, above: [], below: [], x: i };
    });
    row += rows;
  }
  const passages = new Map<string, Item>();
  const join = (above: Item, below: Item) => {
    if (above.below.includes(below)) return;
    above.below.push(below);
    below.above.push(above);
  };
  for (let from = 0; from < count; from++) {
    for (const to of children[from] ?? []) {
      const end = items[to] as Item;
      const shared = (children[from]?.size ?? 0) >= (parents[to]?.size ?? 0) ? `from ${from}` : `to ${to}`;
      let at = items[from] as Item;
      for (let between = at.row + 1; between < end.row; between++) {
        const name = `${shared} ${between}`;
        const held = passages.get(name);
        const passage = held ?? { row: between, width: passWidth, above: [], below: [], x: 0 };
        if (!held) passages.set(name, passage);
        join(at, passage);
        at = passage;
      }
      join(at, end);
    }
  }
  return [...items, ...passages.values()];
}

/** A level in the order of the steps before, so that those that belong together come into the same row. */
function beside(level: number[], parents: Set<number>[], placed: Item[]): number[] {
  const wish = (step: number) => {
    const before = [...(parents[step] ?? [])].map((parent) => placed[parent]?.x ?? 0);
    return before.length === 0 ? 0 : before.reduce((sum, x) => sum + x, 0) / before.length;
  };
  const wishes = new Map(level.map((step) => [step, wish(step)]));
  return [...level].sort((a, b) => (wishes.get(a) as number) - (wishes.get(b) as number));
}
