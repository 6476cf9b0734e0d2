import { type Found, isFound } from './find';
import { closedFrom, type Group, type Grouped, ownersOf } from './groups';
import type { Step, Steps } from './model';

/** The groups that a reader opened and closed, by id or all; the others are open when they are small. */
export interface Folds {
  opened?: string[];
  closed?: string[];
}

/** Stands for all groups that are not named. */
export const everyGroup = 'all';

export function isOpen({ id, leaves }: Group, { opened, closed }: Folds): boolean {
  for (const name of [id, everyGroup]) {
    if (opened?.includes(name)) return true;
    if (closed?.includes(name)) return false;
  }
  return leaves <= closedFrom;
}

/** Opens or closes groups. A group is named only when it differs from what holds for the others. */
export function turned(groups: Grouped['groups'], folds: Folds, ids: string[], open: boolean): Folds {
  const rest = (list: string[] | undefined) => (list ?? []).filter((id) => !ids.includes(id));
  const others = { opened: rest(folds.opened), closed: rest(folds.closed) };
  const named = ids.filter((id) => {
    const group = groups.get(id);
    return group && isOpen(group, others) !== open;
  });
  others[open ? 'opened' : 'closed'].push(...named);
  const { opened, closed } = others;
  return { opened: opened.length > 0 ? opened : undefined, closed: closed.length > 0 ? closed : undefined };
}

export interface Folded extends Steps {
  /** The closed group that hides a step, else the step itself. */
  shownAs: (id: string) => string;
  /** The closed groups that hide steps that are looked for, and how many steps that are. */
  hiding: { groups: string[]; steps: number };
}

/** The graph as it is drawn: a closed group is one step, whose edges are those of its members. */
export function fold(graph: Grouped, folds: Folds, wanted?: Found, selected?: string): Folded {
  const { groups, owners, alone } = graph;
  const open = new Map([...groups.values()].map((group) => [group.id, isOpen(group, folds)]));
  const known = new Map<string, string>();
  const shownAs = (id: string): string => {
    const held = known.get(id);
    if (held !== undefined) return held;
    const step = alone.get(id) ?? id;
    const closed = ownersOf(owners, step).filter((above) => open.get(above) === false);
    const shown = closed.at(-1) ?? step;
    known.set(id, shown);
    return shown;
  };
  const found = new Map<string, number>();
  const around = new Set<string>();
  let hidden = 0;
  for (const step of graph.steps) {
    const shown = shownAs(step.id);
    if (!wanted || shown === step.id || alone.has(step.id) || !isFound(step, wanted)) continue;
    hidden++;
    found.set(shown, (found.get(shown) ?? 0) + 1);
    for (const id of ownersOf(owners, step.id)) if (open.get(id) === false) around.add(id);
  }
  const chosen = selected === undefined ? undefined : shownAs(selected);
  const steps = graph.steps.flatMap((step): Step[] => {
    if (shownAs(step.id) !== step.id) return [];
    const group = groups.get(step.id);
    const counts = countsOf(group?.phases ?? []);
    const stack = group && {
      kind: group.kind,
      open: open.get(step.id) === true,
      size: group.phases?.length ?? group.leaves,
      counts,
      found: found.get(step.id),
      chosen: chosen === step.id && chosen !== selected,
    };
    return [{ ...step, group: owners.get(step.id), stack }];
  });
  return { steps, edges: joined(graph, shownAs), shownAs, hiding: { groups: [...around], steps: hidden } };
}

/** The edges between what is shown, each once. A loop without a node of its own takes those that lead to its passes. */
function joined({ edges, owners, steps }: Grouped, shownAs: (id: string) => string): Steps['edges'] {
  const there = new Set(steps.map(({ id }) => id));
  const found = new Map<string, { from: string; to: string }>();
  for (const edge of edges) {
    if (!there.has(edge.from) || !there.has(edge.to)) continue;
    const from = shownAs(edge.from);
    const to = shownAs(edge.to);
    if (from !== to) found.set(`${from}>${to}`, { from, to });
  }
  for (const [name, { from, to }] of found) {
    const loop = owners.get(to);
    if (loop === undefined || loop === from || !found.has(`${loop}>${to}`)) continue;
    if (ownersOf(owners, from).includes(loop)) continue;
    found.delete(name);
    found.set(`${from}>${loop}`, { from, to: loop });
  }
  return [...found.values()];
}

// What needs a look comes first.
const order = ['Failed', 'Error', 'Running', 'Pending', 'Succeeded'];

function countsOf(phases: string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const phase of phases) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  const place = (phase: string) => (order.includes(phase) ? order.indexOf(phase) : order.length);
  return [...counts].sort(([a], [b]) => place(a) - place(b));
}
