import type { Graph, RunNode } from '../api/client';

/** A step as the graph draws it. */
export interface Step {
  id: string;
  name: string;
  /** What it is: MPIJob, Container, DAG ... */
  kind: string;
  /** Absent in a graph that does not run. */
  phase?: string;
  /** What it waits for before it starts, in a sentence. */
  waiting?: string;
  started?: string;
  finished?: string;
  /** More about a step of a graph that does not run: its template, when that has another name. */
  note?: string;
}

export interface Steps {
  steps: Step[];
  edges: { from: string; to: string }[];
}

/** The graph of a run. Nodes that only group others are left out, and their neighbours joined. */
export function runSteps(nodes: RunNode[]): Steps {
  const byID = new Map(nodes.map((node) => [node.id, node]));
  const hidden = new Set(nodes.filter((node) => isScaffold(node, byID)).map((node) => node.id));
  const steps = nodes
    .filter((node) => !hidden.has(node.id))
    .map((node) => ({
      id: node.id,
      name: stepName(node),
      kind: node.template && node.type === 'Pod' ? node.template : (node.type ?? ''),
      phase: node.phase ?? 'Pending',
      waiting: node.waiting,
      started: node.started_at,
      finished: node.finished_at,
    }));
  const edges: Steps['edges'] = [];
  for (const step of steps) {
    for (const to of shownChildren(step.id, byID, hidden)) edges.push({ from: step.id, to });
  }
  return { steps, edges };
}

export const stepName = (node: RunNode) => node.display_name || node.name || node.id;

/** Nodes that are no steps to a reader: the root, groups of parallel steps, and a retry that was not needed. */
function isScaffold(node: RunNode, byID: Map<string, RunNode>): boolean {
  if (node.type === 'StepGroup') return true;
  if (node.type === 'DAG' || node.type === 'Steps') return !node.boundary_id;
  if (node.type !== 'Retry') return false;
  return (node.children ?? []).filter((id) => byID.get(id)?.boundary_id === node.boundary_id).length <= 1;
}

/** The nearest shown nodes below a node. */
function shownChildren(id: string, byID: Map<string, RunNode>, hidden: Set<string>): string[] {
  const found = new Set<string>();
  const seen = new Set<string>([id]);
  const visit = (from: string) => {
    for (const child of byID.get(from)?.children ?? []) {
      if (seen.has(child) || !byID.has(child)) continue;
      seen.add(child);
      if (hidden.has(child)) visit(child);
      else found.add(child);
    }
  };
  visit(id);
  return [...found];
}

/** The graph of a pipeline that does not run. */
export function pipelineSteps(graph: Graph): Steps {
  return {
    steps: (graph.nodes ?? []).map((node) => ({
      id: node.id ?? '',
      name: node.name ?? node.id ?? '',
      kind: node.type ?? '',
      note: node.template === node.name ? undefined : node.template,
    })),
    edges: (graph.edges ?? []).map((edge) => ({ from: edge.from ?? '', to: edge.to ?? '' })),
  };
}
