import type { Graph, PipelineChange } from '../api/client';
import { type Grouped, ownersOf } from '../graph/groups';
import type { StepChange } from '../graph/model';
import { groupPipeline } from '../graph/pipelineGroups';

/** One graph of two: the steps of both, marked by what became of them. A group is marked by what it holds. */
export function mergeGraphs(from: Graph, to: Graph, changes: PipelineChange[]): Grouped {
  const graph = groupPipeline({
    nodes: merged(to.nodes, from.nodes, ({ id }) => id),
    edges: merged(to.edges, from.edges, wayOf),
  });
  const marks = marksOf(from, to, changes);
  for (const id of [...marks.keys()]) {
    for (const owner of ownersOf(graph.owners, id)) if (!marks.has(owner)) marks.set(owner, 'changed');
  }
  return { ...graph, steps: graph.steps.map((step) => ({ ...step, change: marks.get(step.id) })) };
}

const wayOf = ({ from, to }: { from?: string; to?: string }) => `${from} ${to}`;

/** What is in the first list, and what is in the second alone. */
function merged<T>(first: T[] = [], second: T[] = [], key: (item: T) => string | undefined): T[] {
  const there = new Set(first.map(key));
  return [...first, ...second.filter((item) => !there.has(key(item)))];
}

function marksOf(from: Graph, to: Graph, changes: PipelineChange[]): Map<string, StepChange> {
  const before = new Set(from.nodes?.map(({ id }) => id));
  const changed = new Set(changes.map(({ step }) => step));
  // A template that several steps share is compared once; the change is theirs all.
  const altered = new Set(changes.filter(({ path }) => path && !path.startsWith('task.')).map(({ step }) => step));
  const templates = new Set(to.nodes?.filter(({ id }) => altered.has(id)).map(({ template }) => template));
  const marks = new Map<string, StepChange>();
  for (const { id = '', template } of to.nodes ?? []) {
    if (!before.delete(id)) marks.set(id, 'added');
    else if (changed.has(id) || (template && templates.has(template))) marks.set(id, 'changed');
  }
  for (const id of before) if (id) marks.set(id, 'removed');
  return marks;
}
