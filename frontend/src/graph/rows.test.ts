import { describe, expect, it } from 'vitest';
import { nodeHeight, nodeWidth } from './layout';
import type { Steps } from './model';
import { placeRows } from './rows';

const steps = (count: number, edges: [number, number][]): Steps => ({
  steps: Array.from({ length: count }, (_, i) => ({ id: String(i), name: `step ${i}`, kind: 'Pod' })),
  edges: edges.map(([from, to]) => ({ from: String(from), to: String(to) })),
});
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

const shapes: Record<string, Steps> = {
  'a loop': steps(
    2000,
    numbers(1999).map((i) => [0, i + 1]),
  ),
  'a loop that is collected': steps(
    2000,
    numbers(1998).flatMap((i): [number, number][] => [
      [0, i + 1],
      [i + 1, 1999],
    ]),
  ),
  chains: steps(
    2000,
    numbers(1900).map((i) => [i, i + 100]),
  ),
  'a chain': steps(
    500,
    numbers(499).map((i) => [i, i + 1]),
  ),
  layers: steps(
    2000,
    numbers(1900).flatMap((i): [number, number][] => [
      [i, 100 * Math.floor(i / 100 + 1) + ((i * 37) % 100)],
      [i, 100 * Math.floor(i / 100 + 1) + ((i * 53 + 11) % 100)],
    ]),
  ),
  'edges over many levels': steps(
    300,
    numbers(299).flatMap((i): [number, number][] => [
      [i, i + 1],
      [Math.floor(i / 7), i + 1],
    ]),
  ),
  'a circle and strays': steps(400, [
    [0, 1],
    [1, 2],
    [2, 0],
    [5, 5],
    [7, 999],
  ]),
};

describe.each(Object.entries(shapes))('%s', (_, graph) => {
  const rows = placeRows(graph);
  const placed = new Map(rows.flatMap((row) => row.steps.map((step) => [step.id, step])));

  it('has a place for each step, below those before it', () => {
    expect([...placed.keys()].sort()).toEqual(graph.steps.map(({ id }) => id).sort());
    const back = (from: string, to: string) => from === to || (from === '2' && to === '0' && graph.edges.length === 5);
    for (const { from, to } of graph.edges) {
      const [above, below] = [placed.get(from), placed.get(to)];
      if (above && below && !back(from, to)) expect(above.y, `${from} to ${to}`).toBeLessThan(below.y);
    }
  });

  it('puts no step on another', () => {
    for (const row of rows) {
      row.steps.forEach((step, i) => {
        const before = row.steps[i - 1];
        if (before) expect(step.x - before.x).toBeGreaterThanOrEqual(nodeWidth);
      });
    }
  });

  it('leads no edge behind a step', () => {
    for (const { y, steps: row, pieces } of rows) {
      for (const piece of pieces) {
        if (piece.y0 >= y + nodeHeight) continue; // In the gap.
        expect(piece.x1).toBe(piece.x0);
        const hit = row.find((step) => piece.x0 > step.x && piece.x0 < step.x + nodeWidth);
        expect(hit).toBeUndefined();
      }
    }
  });

  it('joins what the edges join', () => {
    const reached = reach(rows);
    for (const { from, to } of graph.edges) {
      if (!placed.has(from) || !placed.has(to) || from === to) continue;
      const ways = reached(from, to) || reached(to, from);
      expect(ways, `${from} to ${to}`).toBe(true);
    }
  });
});

it('gives a wide level several rows, so that the whole can be seen', () => {
  const rows = placeRows(shapes['a loop'] as Steps);
  const all = rows.flatMap((row) => row.steps);
  const width = Math.max(...all.map(({ x }) => x)) - Math.min(...all.map(({ x }) => x)) + nodeWidth;
  expect(width).toBeLessThan(15_000);
  expect(rows.length).toBeLessThan(80);
});

/** Whether the pieces lead from one step down to another. */
function reach(rows: ReturnType<typeof placeRows>) {
  const key = (x: number, y: number) => `${Math.round(x * 8)},${y}`;
  const next = new Map<string, { x: number; y: number }[]>();
  const at = new Map<string, { x: number; y: number }>();
  for (const row of rows) {
    for (const { id, x, y } of row.steps) at.set(id, { x: x + nodeWidth / 2, y });
    for (const { x0, y0, x1, y1 } of row.pieces) {
      const ends = next.get(key(x0, y0)) ?? [];
      ends.push({ x: x1, y: y1 });
      next.set(key(x0, y0), ends);
    }
  }
  const found = new Map<string, Set<string>>();
  const below = (id: string) => {
    const known = found.get(id);
    if (known) return known;
    const seen = new Set<string>();
    const start = at.get(id) as { x: number; y: number };
    const open = [{ x: start.x, y: start.y + nodeHeight }];
    for (let point = open.pop(); point; point = open.pop()) {
      for (const to of next.get(key(point.x, point.y)) ?? []) {
        if (seen.has(key(to.x, to.y))) continue;
        seen.add(key(to.x, to.y));
        open.push(to);
      }
    }
    found.set(id, seen);
    return seen;
  };
  return (from: string, to: string) => {
    const end = at.get(to) as { x: number; y: number };
    return below(from).has(key(end.x, end.y));
  };
}
