import type { ClusterEvent } from '../api/cluster';

/** When a pod of a step pulled its images, in milliseconds since 1970. */
export interface Pull {
  nodeID: string;
  from: number;
  /** Absent while it still pulls. */
  to?: number;
}

/** What events tell of images that were pulled; an image that the node had already is not pulled. */
export function pullsOf(events: ClusterEvent[]): Pull[] {
  const byPod = new Map<string, ClusterEvent[]>();
  for (const event of events) {
    if (event.kind === 'Pod' && event.node_id)
      byPod.set(event.name ?? '', [...(byPod.get(event.name ?? '') ?? []), event]);
  }
  return [...byPod.values()].flatMap((own) => {
    const begun = own.filter(({ reason }) => reason === 'Pulling');
    const ended = own.filter(({ reason, message }) => isEnd.test(`${reason} ${message}`));
    const from = Math.min(...begun.map(({ first_at }) => Date.parse(first_at ?? '')));
    if (!Number.isFinite(from)) return [];
    const pulled = latest(ended);
    if (timesTold(ended) >= timesTold(begun) && pulled >= from)
      return [{ nodeID: own[0]?.node_id ?? '', from, to: pulled }];
    // A kubelet that goes on with the files that it has only starts the container.
    const started = own.filter(
      ({ reason, first_at }) => reason === 'Started' && Date.parse(first_at ?? '') >= latest(begun),
    );
    const to = Math.min(...started.map(({ first_at }) => Date.parse(first_at ?? '')));
    return [{ nodeID: own[0]?.node_id ?? '', from, to: Number.isFinite(to) ? to : undefined }];
  });
}

const isEnd = /^(Pulled Successfully pulled|Failed Failed to pull)/;

const timesTold = (events: ClusterEvent[]) => events.reduce((sum, { count }) => sum + (count || 1), 0);

const latest = (events: ClusterEvent[]) => Math.max(...events.map(({ last_at }) => Date.parse(last_at ?? '')));
