import type { Step, Steps } from './model';

/** The steps that are looked for, by id; undefined where nothing is, and all count. */
export type Found = ReadonlySet<string> | undefined;

// What leads to steps and what follows them, by so many edges or all: +train, 2+train, train+, +train+2.
const path = /^(?:(\d*)(\+))?(.+?)(?:(\+)(\d*))?$/;

/**
 * The steps with a text in their names, in any case. Where no name has it, it may be a path: the steps with the name
 * between the plus signs, what leads to them and what follows them.
 */
export function findSteps({ steps, edges }: Steps, text = ''): Found {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return undefined;
  const named = (name: string) =>
    new Set(steps.filter((step) => step.name.toLowerCase().includes(name)).map((step) => step.id));
  const plain = named(wanted);
  const parts = path.exec(wanted);
  if (plain.size > 0 || !parts) return plain;
  const [, above = '', up, name = '', down, below = ''] = parts;
  const start = named(name);
  const found = new Set(start);
  if (up) reach(found, start, neighbours(edges, 'to', 'from'), levels(above));
  if (down) reach(found, start, neighbours(edges, 'from', 'to'), levels(below));
  return found;
}

const levels = (text: string) => (text === '' ? Number.POSITIVE_INFINITY : Number(text));

function neighbours(edges: Steps['edges'], from: 'from' | 'to', to: 'from' | 'to') {
  const next = new Map<string, string[]>();
  for (const edge of edges) next.set(edge[from], [...(next.get(edge[from]) ?? []), edge[to]]);
  return next;
}

/** Adds what lies at most so many edges away. */
function reach(found: Set<string>, start: Set<string>, next: Map<string, string[]>, most: number) {
  const seen = new Set(start);
  let edge = [...start];
  for (let level = 0; level < most && edge.length > 0; level++) {
    edge = [...new Set(edge.flatMap((id) => next.get(id) ?? []))].filter((id) => !seen.has(id));
    for (const id of edge) {
      seen.add(id);
      found.add(id);
    }
  }
}

/** Whether a step is looked for, or hides one that is. */
export const isFound = (step: Step, found: Found) =>
  found === undefined || found.has(step.id) || (step.stack?.found ?? 0) > 0;
