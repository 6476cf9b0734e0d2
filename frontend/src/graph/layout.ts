import { Graph, layout } from '@dagrejs/dagre';
import { boxTree, type Entry, inBoxes } from './boxes';
import type { Steps } from './model';

export const nodeWidth = 208;
export const nodeHeight = 62;

export interface Placed {
  id: string;
  x: number;
  y: number;
}

export interface Point {
  x: number;
  y: number;
}

/** A frame around the steps of an open group, by the id of the group. */
export interface Box extends Placed {
  width: number;
  height: number;
}

/** A line from a step or a box to a step; one to a group ends at its own card. */
export interface Way {
  from: string;
  to: string;
  /** It begins at the box of the group that it comes from. */
  fromBox: boolean;
  /** Its bends. */
  points: Point[];
}

export interface Places {
  /** x and y are the top left corner. */
  steps: Placed[];
  boxes: Box[];
  ways: Way[];
}

const spaces = { between: 24, below: 44, inside: 14 };
// More members without an order than so many stand in rows.
const rowsFrom = 6;

interface Inside {
  width: number;
  height: number;
  /** The top left corner of each entry, by its id. */
  at: Map<string, Point>;
  ways: Way[];
}

/**
 * Places steps top to bottom, each below those that it waits for, and leads edges around the steps between. An open
 * group is placed by itself, in a box that stands where the group's one step would: what is around it keeps its order.
 */
export function place(graph: Steps): Places {
  const tree = boxTree(graph);
  const edges = inBoxes(graph, tree);
  const insides = new Map<string, Inside>();
  const sizeOf = ({ id, box }: Entry) => {
    const inside = box ? insides.get(id) : undefined;
    if (!inside) return { width: nodeWidth, height: nodeHeight };
    const height = nodeHeight + (inside.height > 0 ? spaces.inside + inside.height : 0);
    return {
      width: Math.max(nodeWidth, inside.width) + 2 * spaces.inside,
      height: height + 2 * spaces.inside,
    };
  };
  // The innermost first, as its size counts outside.
  for (const box of tree.deepestFirst) insides.set(box, arrange(tree.within(box), edges.get(box) ?? [], sizeOf, true));
  const places: Places = { steps: [], boxes: [], ways: [] };
  const put = (entries: Entry[], { at, ways }: Inside, by: Point) => {
    for (const way of ways) {
      places.ways.push({ ...way, points: way.points.map(({ x, y }) => ({ x: x + by.x, y: y + by.y })) });
    }
    for (const entry of entries) {
      const { id } = entry;
      const spot = at.get(id) ?? { x: 0, y: 0 };
      const corner = { x: spot.x + by.x, y: spot.y + by.y };
      const inside = entry.box ? insides.get(id) : undefined;
      if (!inside) {
        places.steps.push({ id, ...corner });
        continue;
      }
      const { width, height } = sizeOf(entry);
      const top = corner.y + spaces.inside;
      places.boxes.push({ id, ...corner, width, height });
      places.steps.push({ id, x: corner.x + (width - nodeWidth) / 2, y: top });
      const left = corner.x + (width - inside.width) / 2;
      put(tree.within(id), inside, { x: left, y: top + nodeHeight + spaces.inside });
    }
  };
  put(tree.within(undefined), arrange(tree.within(undefined), edges.get(undefined) ?? [], sizeOf, false), {
    x: 0,
    y: 0,
  });
  return places;
}

type SizeOf = (entry: Entry) => { width: number; height: number };

function arrange(entries: Entry[], edges: { from: string; to: string }[], sizeOf: SizeOf, boxed: boolean): Inside {
  if (boxed && edges.length === 0 && entries.length > rowsFrom) return inRows(entries, sizeOf);
  const graph = new Graph();
  const boxes = new Set(entries.flatMap(({ id, box }) => (box ? [id] : [])));
  // What stands beside a box stands beside the card of its group.
  const rankalign = boxes.size > 0 ? 'top' : 'center';
  graph.setGraph({ rankdir: 'TB', nodesep: spaces.between, ranksep: spaces.below, rankalign });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const entry of entries) graph.setNode(entry.id, { ...sizeOf(entry) });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const at = new Map<string, Point>();
  const bottoms = new Map<number, number>();
  for (const { id } of entries) {
    const { x, y, width, height } = graph.node(id) as Point & { width: number; height: number };
    const corner = { x: x - width / 2, y: y - height / 2 };
    at.set(id, corner);
    const top = Math.round(corner.y);
    bottoms.set(top, Math.max(bottoms.get(top) ?? 0, corner.y + height));
  }
  const ways = graph.edges().map(({ v, w }): Way => {
    const { points } = graph.edge({ v, w }) as { points: Point[] };
    return { from: v, to: w, fromBox: boxes.has(v), points: boxes.size > 0 ? straight(points, bottoms) : points };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width: Math.max(0, width), height: Math.max(0, height), at, ways };
}

/** The bends of an edge, which goes straight down through each row, whose boxes may be high. */
function straight(points: Point[], bottoms: Map<number, number>): Point[] {
  const rows = [...bottoms];
  return points.flatMap((point, i) => {
    const { x, y } = point;
    const [top, bottom] = rows.find((row) => y >= row[0] - 1 && y <= row[1] + 1) ?? [];
    if (top === undefined || bottom === undefined || i === points.length - 1) return [point];
    // The first point is where the step ends.
    if (i > 0)
      return [
        { x, y: top },
        { x, y: bottom },
      ];
    return bottom - y > 1 ? [point, { x, y: bottom }] : [point];
  });
}

/** Members that wait for none of the others, in their order, twice as wide as high. */
function inRows(entries: Entry[], sizeOf: SizeOf): Inside {
  const sizes = entries.map((entry) => ({ id: entry.id, ...sizeOf(entry) }));
  const area = sizes.reduce((sum, { width, height }) => sum + (width + spaces.between) * (height + spaces.between), 0);
  const widest = Math.max(Math.sqrt(2 * area), ...sizes.map(({ width }) => width));
  const at = new Map<string, Point>();
  let [x, y, deep, width] = [0, 0, 0, 0];
  for (const size of sizes) {
    if (x > 0 && x + size.width > widest) {
      y += deep + spaces.between;
      [x, deep] = [0, 0];
    }
    at.set(size.id, { x, y });
    width = Math.max(width, x + size.width);
    deep = Math.max(deep, size.height);
    x += size.width + spaces.between;
  }
  return { width, height: y + deep, at, ways: [] };
}
