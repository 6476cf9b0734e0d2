import type { Amount, Cluster, Holder, Pending, PodGroup } from '../api/cluster';

/** The place of a gang among those that wait in its queue. */
export interface Place {
  queue: string;
  /** Those that wait longer. */
  before: PodGroup[];
  count: number;
}

/** The place of a waiting step's gang in its queue; undefined when it has none that waits there. */
export function placeInQueue({ queues = [] }: Cluster, runID: string, { told_by }: Pending): Place | undefined {
  for (const { name = '', waiting = [] } of queues) {
    const own = waiting.filter(({ run_id }) => run_id === runID);
    // A run can have several gangs: the name of the one that says so, or of its pods, tells which.
    const gang = own.length < 2 ? own[0] : own.find((one) => one.name && told_by?.name?.startsWith(one.name));
    if (gang) return { queue: name, before: waiting.slice(0, waiting.indexOf(gang)), count: waiting.length };
  }
  return undefined;
}

const amountOf = (resource: string, amounts: Amount[] = []) =>
  amounts.find((amount) => amount.resource === resource)?.value ?? 0;

/** Who holds a resource, on all nodes together, those with most first. */
export function holdersOf({ nodes = [] }: Cluster, resource: string): Holder[] {
  const all = new Map<string, { holder: Holder; pods: number; value: number }>();
  for (const holder of nodes.flatMap((node) => node.holders ?? [])) {
    const value = amountOf(resource, holder.requested);
    if (value === 0) continue;
    const key = holder.run_id || `/${holder.namespace}`;
    const sum = all.get(key) ?? { holder, pods: 0, value: 0 };
    all.set(key, { ...sum, pods: sum.pods + (holder.pods ?? 0), value: sum.value + value });
  }
  return [...all.values()]
    .sort((a, b) => b.value - a.value)
    .map(({ holder, pods, value }) => ({ ...holder, pods, requested: [{ resource, value }] }));
}
