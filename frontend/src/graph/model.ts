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
  /** In a graph that does not run: it runs once for each item. */
  loop?: boolean;
  /** In a graph that does not run: the condition under which it runs. */
  when?: string;
  /** In the graph of two versions: what became of it. */
  change?: StepChange;
  /** What it holds, when it is a group of steps. */
  stack?: Stack;
  /** The open group that it lies in. */
  group?: string;
}

export type StepChange = 'added' | 'removed' | 'changed';

export type GroupKind = 'loop' | 'branch' | 'pipeline';

/** What a group of steps holds. */
export interface Stack {
  kind: GroupKind;
  open: boolean;
  /** The passes of a loop that runs, else the steps. */
  size: number;
  /** How many of these are in each state; none in a graph that does not run. */
  counts: [phase: string, count: number][];
  /** So many steps that it hides match what is looked for. */
  found?: number;
  /** It hides the chosen step. */
  chosen?: boolean;
}

export interface Steps {
  steps: Step[];
  edges: { from: string; to: string }[];
}

/** The graph of a run. Nodes that only group others are left out, and their neighbours joined. */
export function runSteps(nodes: RunNode[]): Steps {
  const byID = new Map(nodes.map((node) => [node.id, node]));
  const hidden = new Set(nodes.filter((node) => isScaffold(node, byID)).map((node) => node.id));
  const labels = stepLabels(nodes);
  const steps = nodes
    .filter((node) => !hidden.has(node.id))
    .map((node) => ({
      id: node.id,
      name: labels.get(node.id) ?? node.id,
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

// Argo ends the name of a loop's pass with its number and its item: for-loop-1(0:0.0001).
export const pass = /\(\d+(?::[\s\S]*)?\)$/;

/** Names nodes so that the passes of a loop differ: train(0:0.0001), where each pass has a step called train. */
export function stepLabels(nodes: RunNode[]): Map<string, string> {
  const byID = new Map(nodes.map((node) => [node.id, node]));
  return new Map(nodes.map((node) => [node.id, stepName(node) + itemsAbove(node, byID)]));
}

function itemsAbove(node: RunNode, byID: Map<string, RunNode>): string {
  let items = '';
  const seen = new Set([node.id]);
  for (let id = node.boundary_id; id && !seen.has(id); id = byID.get(id)?.boundary_id) {
    seen.add(id);
    const above = byID.get(id);
    // The attempts of a retry have the item in their own names.
    if (above && above.type !== 'Retry') items = (pass.exec(stepName(above))?.[0] ?? '') + items;
  }
  return items;
}

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
      loop: node.loop,
      when: node.when,
    })),
    edges: (graph.edges ?? []).map((edge) => ({ from: edge.from ?? '', to: edge.to ?? '' })),
  };
}

/** The graph without what succeeded, whose neighbours are joined. */
export function hideSucceeded({ steps, edges }: Steps): Steps {
  const kept = new Set(steps.filter((step) => step.phase !== 'Succeeded').map((step) => step.id));
  const next = new Map<string, string[]>();
  for (const { from, to } of edges)
    next
      .set(from, next.get(from) ?? [])
      .get(from)
      ?.push(to);
  const joined: Steps['edges'] = [];
  for (const from of kept) {
    const seen = new Set([from]);
    const ahead = [...(next.get(from) ?? [])];
    for (let to = ahead.pop(); to !== undefined; to = ahead.pop()) {
      if (seen.has(to)) continue;
      seen.add(to);
      if (kept.has(to)) joined.push({ from, to });
      else ahead.push(...(next.get(to) ?? []));
    }
  }
  return { steps: steps.filter((step) => kept.has(step.id)), edges: joined };
}
