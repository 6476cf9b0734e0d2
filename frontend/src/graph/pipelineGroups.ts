import type { Graph } from '../api/client';
import { branchName, type Group, type Grouped, ownersOf } from './groups';
import { type GroupKind, pipelineSteps, type Step, type Steps } from './model';

/** The graph of a pipeline that does not run, whose tasks with tasks in them are groups. */
export function groupPipeline(graph: Graph): Grouped {
  const { steps, edges } = pipelineSteps(graph);
  const there = new Set(steps.map(({ id }) => id));
  const owners = new Map<string, string>();
  const members = new Map<string, string[]>();
  for (const { id = '', parent } of graph.nodes ?? []) {
    if (parent === undefined || !there.has(parent)) continue;
    owners.set(id, parent);
    members.set(parent, [...(members.get(parent) ?? []), id]);
  }
  const groups = new Map<string, Group>();
  for (const step of steps) {
    if (members.has(step.id)) groups.set(step.id, { id: step.id, kind: kindOf(step), leaves: 0 });
  }
  for (const { id } of steps) {
    if (groups.has(id)) continue;
    for (const above of ownersOf(owners, id)) {
      const group = groups.get(above);
      if (group) group.leaves++;
    }
  }
  return { steps, edges: throughGroups(edges, members), groups, owners, alone: new Map() };
}

function kindOf({ name, loop, when }: Step): GroupKind {
  if (loop) return 'loop';
  return when || branchName.test(name) ? 'branch' : 'pipeline';
}

/** The edges as a run has them: from a group to its first members, and from its last members to what follows the group. */
function throughGroups(edges: Steps['edges'], members: Map<string, string[]>): Steps['edges'] {
  const after = new Set(edges.map(({ to }) => to));
  const before = new Set(edges.map(({ from }) => from));
  const known = new Map<string, string[]>();
  const lastsOf = (id: string): string[] => {
    const held = known.get(id);
    if (held) return held;
    known.set(id, [id]);
    const lasts = (members.get(id) ?? []).filter((member) => !before.has(member)).flatMap(lastsOf);
    const ends = lasts.length > 0 ? lasts : [id];
    known.set(id, ends);
    return ends;
  };
  const into = [...members].flatMap(([from, own]) => own.filter((to) => !after.has(to)).map((to) => ({ from, to })));
  return [...edges.flatMap(({ from, to }) => lastsOf(from).map((last) => ({ from: last, to }))), ...into];
}
