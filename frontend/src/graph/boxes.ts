import type { Steps } from './model';

/** What stands in a box, or in the graph itself: a step, or an open group with what it holds. */
export interface Entry {
  id: string;
  box: boolean;
}

export interface BoxTree {
  /** What stands directly in a box; undefined stands for the graph itself. */
  within: (box: string | undefined) => Entry[];
  /** The boxes, each after those in it. */
  deepestFirst: string[];
  /** The boxes around a step from the outermost, then the step; for an open group its own box comes last. */
  pathTo: (id: string) => string[];
}

/** The open groups of a graph as boxes in boxes. */
export function boxTree({ steps }: Steps): BoxTree {
  const open = new Set(steps.filter(({ stack }) => stack?.open).map(({ id }) => id));
  const around = new Map(
    steps.map(({ id, group }) => [id, group !== undefined && open.has(group) ? group : undefined]),
  );
  const pathTo = (id: string) => {
    const path = [id];
    for (let above = around.get(id); above !== undefined && !path.includes(above); above = around.get(above)) {
      path.unshift(above);
    }
    return path;
  };
  const contents = new Map<string | undefined, Entry[]>();
  for (const { id } of steps) {
    const box = around.get(id);
    const entries = contents.get(box) ?? [];
    entries.push({ id, box: open.has(id) });
    contents.set(box, entries);
  }
  const deepestFirst = [...open].sort((a, b) => pathTo(b).length - pathTo(a).length);
  return { within: (box) => contents.get(box) ?? [], deepestFirst, pathTo };
}

type Edge = Steps['edges'][number];

/** The edges by the innermost box that has both ends, between what stands in it. Those of a group to its own members need no line. */
export function inBoxes({ steps, edges }: Steps, { pathTo }: BoxTree): Map<string | undefined, Edge[]> {
  const there = new Set(steps.map(({ id }) => id));
  const found = new Map<string | undefined, Map<string, Edge>>();
  for (const edge of edges) {
    // A pipeline that calls itself has a way back; it needs no place of its own.
    if (edge.from === edge.to || !there.has(edge.from) || !there.has(edge.to)) continue;
    const a = pathTo(edge.from);
    const b = pathTo(edge.to);
    let depth = 0;
    while (a[depth] !== undefined && a[depth] === b[depth]) depth++;
    const from = a[depth];
    const to = b[depth];
    if (from === undefined || to === undefined) continue;
    const box = a[depth - 1];
    const held = found.get(box) ?? new Map<string, Edge>();
    held.set(`${from}>${to}`, { from, to });
    found.set(box, held);
  }
  return new Map([...found].map(([box, held]) => [box, [...held.values()]]));
}
