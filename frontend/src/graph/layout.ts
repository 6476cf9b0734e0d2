import { Graph, layout } from '@dagrejs/dagre';
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

export interface Places {
  /** x and y are the top left corner. */
  steps: Placed[];
  /** The bends of each edge from its step to the next, by FROM>TO. */
  ways: Map<string, Point[]>;
}

/** Places steps top to bottom, each below those that it waits for, and leads edges around the steps between. */
export function place({ steps, edges }: Steps): Places {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 24, ranksep: 44 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const step of steps) graph.setNode(step.id, { width: nodeWidth, height: nodeHeight });
  for (const { from, to } of edges) {
    // A pipeline that calls itself has a way back; it needs no place of its own.
    if (from !== to && graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to);
  }
  layout(graph);
  const ways = new Map<string, Point[]>();
  for (const { v, w } of graph.edges()) ways.set(`${v}>${w}`, (graph.edge({ v, w }) as { points: Point[] }).points);
  const placed = steps.map(({ id }) => {
    const { x, y } = graph.node(id) as { x: number; y: number };
    return { id, x: x - nodeWidth / 2, y: y - nodeHeight / 2 };
  });
  return { steps: placed, ways };
}
