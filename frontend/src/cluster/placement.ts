import type { Worker } from '../api/cluster';

/** A node and the pods of a job that are on it. */
export interface Place {
  node: string;
  workers: Worker[];
}

/** The nodes of a job by name, each with its pods by role and number. Pods without a node are left out. */
export function placesOf(workers: Worker[]): Place[] {
  const places = new Map<string, Worker[]>();
  for (const worker of workers) {
    if (worker.node) places.set(worker.node, [...(places.get(worker.node) ?? []), worker]);
  }
  return [...places]
    .map(([node, there]) => ({ node, workers: there.toSorted(byRole) }))
    .toSorted((a, b) => a.node.localeCompare(b.node, undefined, { numeric: true }));
}

function byRole(a: Worker, b: Worker): number {
  return (a.role ?? '').localeCompare(b.role ?? '') || (a.index ?? 0) - (b.index ?? 0);
}
