import { Graph, layout } from '@dagrejs/dagre';
import type { Steps } from './model';

export const nodeWidth = 208;
export const nodeHeight = 62;

export interface Placed {
  id: string;
  x: number;
  y: number;
}

/** Places steps top to bottom, each below those that it waits for; x and y are the top left corner. */
export function place({ steps, edges }: Steps): Placed[] {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 24, ranksep: 44 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const step of steps) graph.setNode(step.id, { width: nodeWidth, height: nodeHeight });
  for (const { from, to } of edges) {
    // A pipeline that calls itself has a way back; it needs no place of its own.
    if (from !== to && graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to);
  }
  layout(graph);
  return steps.map(({ id }) => {
    const { x, y } = graph.node(id) as { x: number; y: number };
    return { id, x: x - nodeWidth / 2, y: y - nodeHeight / 2 };
  });
}
