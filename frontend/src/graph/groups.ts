import type { RunNode } from '../api/client';
import { isFailure } from '../status/status';
import { type GroupKind, pass, runSteps, type Step, type Steps, stepName } from './model';

/** A loop, a branch or a sub-pipeline: steps that collapse to one. */
export interface Group {
  id: string;
  kind: GroupKind;
  /** How many steps lie in it, at any depth. */
  leaves: number;
  /** The states of what it counts: a loop's passes, else its steps. Absent in a pipeline that does not run. */
  phases?: string[];
}

/** The steps of a run or of a pipeline with the groups that they lie in. */
export interface Grouped extends Steps {
  groups: Map<string, Group>;
  /** The group around a step or a group. */
  owners: Map<string, string>;
  /** Passes of a loop that have one step, and that step, which stands for them. */
  alone: Map<string, string>;
}

/** The names that compilers give to branches, and to what holds all branches of a condition. */
export const branchName = /^(condition|branch)-/;

/** A group with more steps than so many starts closed. */
export const closedFrom = 20;

/** Finds the groups of a run in the parents, children and boundaries of its nodes. */
export function groupSteps(nodes: RunNode[]): Grouped {
  const { steps, edges } = runSteps(nodes);
  const tree = new Tree(nodes);
  for (const loop of tree.made) steps.push(loopOfSteps(loop));
  const owners = new Map<string, string>();
  const members = new Map<string, string[]>();
  for (const { id } of steps) {
    const owner = tree.ownerOf(id);
    if (owner === undefined) continue;
    owners.set(id, owner);
    members.set(owner, [...(members.get(owner) ?? []), id]);
  }
  const alone = new Map<string, string>();
  for (const [id, [only, ...more]] of members) {
    const around = owners.get(id);
    if (only === undefined || more.length > 0 || members.has(only) || !tree.isLoop(around)) continue;
    alone.set(id, only);
    owners.set(only, around);
  }
  const byStep = new Map(steps.map((step) => [step.id, step]));
  const groups = new Map<string, Group>();
  for (const id of members.keys()) {
    if (!alone.has(id)) groups.set(id, { id, kind: tree.kindOf(id), leaves: 0, phases: [] });
  }
  for (const { id, phase = '' } of steps) {
    if (groups.has(id) || alone.has(id) || byStep.has(tree.retryOf.get(id) ?? '')) continue;
    for (const above of ownersOf(owners, id)) {
      const group = groups.get(above);
      if (!group) continue;
      group.leaves++;
      if (group.kind !== 'loop') group.phases?.push(phase);
    }
  }
  for (const group of groups.values()) {
    if (group.kind !== 'loop') continue;
    const phases = tree.passesOf(group.id).map((node) => node.phase ?? 'Pending');
    group.phases = phases;
    const step = byStep.get(group.id);
    if (step && tree.made.some(({ id }) => id === group.id)) step.phase = phaseOf(phases);
  }
  const into = tree.made.flatMap(({ id, passes }) =>
    passes.flatMap((node) => tree.shownOf(node.id, byStep)).map((to) => ({ from: id, to })),
  );
  return { steps, edges: [...edges, ...into], groups, owners, alone };
}

/** The groups around a step, from the innermost. */
export function ownersOf(owners: Map<string, string>, id: string): string[] {
  const found: string[] = [];
  for (let above = owners.get(id); above !== undefined && !found.includes(above); above = owners.get(above)) {
    found.push(above);
  }
  return found;
}

/** A loop in a template of steps, which has no node of its own. */
interface MadeLoop {
  id: string;
  name: string;
  boundary?: string;
  passes: RunNode[];
}

const loopOfSteps = ({ id, name }: MadeLoop): Step => ({ id, name, kind: 'TaskGroup' });

/** Which node lies in which group. */
class Tree {
  readonly made: MadeLoop[] = [];
  /** The loop of each pass. */
  private readonly passes = new Map<string, string>();
  /** The retry of each attempt. */
  readonly retryOf = new Map<string, string>();
  private readonly byID: Map<string, RunNode>;
  private readonly inLoop = new Map<string, RunNode[]>();

  constructor(nodes: RunNode[]) {
    this.byID = new Map(nodes.map((node) => [node.id, node]));
    for (const node of nodes) {
      if (node.type === 'TaskGroup') this.take(node.id, this.named(node));
      else if (node.type === 'Retry') for (const { id } of this.named(node)) this.retryOf.set(id, node.id);
      else if (node.type === 'StepGroup') this.makeLoops(node);
    }
  }

  /** The children that Argo names after their parent: passes and attempts, and not what follows them. */
  private named(node: RunNode): RunNode[] {
    return this.childrenOf(node).filter((child) => stepName(child).startsWith(`${stepName(node)}(`));
  }

  private childrenOf(node: RunNode): RunNode[] {
    const children = (node.children ?? []).flatMap((id) => this.byID.get(id) ?? []);
    return children.filter((child) => child.boundary_id === node.boundary_id);
  }

  private makeLoops(group: RunNode) {
    const loops = new Map<string, RunNode[]>();
    for (const child of this.childrenOf(group)) {
      const name = stepName(child);
      if (!pass.test(name)) continue;
      const loop = name.replace(pass, '');
      loops.set(loop, [...(loops.get(loop) ?? []), child]);
    }
    for (const [name, passes] of loops) {
      if (passes.length < 2) continue;
      const id = `${group.id}/${name}`;
      this.made.push({ id, name, boundary: group.boundary_id, passes });
      this.take(id, passes);
    }
  }

  private take(loop: string, passes: RunNode[]) {
    this.inLoop.set(loop, passes);
    for (const { id } of passes) this.passes.set(id, loop);
  }

  isLoop(id: string | undefined): id is string {
    return id !== undefined && this.inLoop.has(id);
  }

  /** A pass, or its attempts when the retry around them is not shown. */
  shownOf(id: string, shown: Map<string, Step>): string[] {
    if (shown.has(id)) return [id];
    return (this.byID.get(id)?.children ?? []).filter((child) => shown.has(child) && this.retryOf.get(child) === id);
  }

  passesOf(loop: string): RunNode[] {
    return this.inLoop.get(loop) ?? [];
  }

  kindOf(id: string): GroupKind {
    if (this.inLoop.has(id)) return 'loop';
    const node = this.byID.get(id);
    return node && branchName.test(stepName(node)) ? 'branch' : 'pipeline';
  }

  /** The nearest group around a node. */
  ownerOf(id: string): string | undefined {
    const seen = new Set<string>();
    let at = id;
    while (!seen.has(at)) {
      seen.add(at);
      const loop = this.passes.get(at);
      if (loop !== undefined) return loop;
      const retry = this.retryOf.get(at);
      if (retry !== undefined) {
        at = retry;
        continue;
      }
      const boundary = this.byID.get(at)?.boundary_id ?? this.made.find((made) => made.id === at)?.boundary;
      const above = boundary ? this.byID.get(boundary) : undefined;
      if (!above) return undefined;
      if (above.type === 'DAG' || above.type === 'Steps') return above.boundary_id ? above.id : undefined;
      at = above.id;
    }
    return undefined;
  }
}

/** The state of a loop that has no node: as Argo would say it. */
function phaseOf(phases: string[]): string {
  const begun = phases.some((phase) => phase !== 'Pending');
  if (phases.includes('Running') || (begun && phases.includes('Pending'))) return 'Running';
  return phases.find(isFailure) ?? (begun ? 'Succeeded' : 'Pending');
}
