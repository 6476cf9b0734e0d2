import type { Point } from '../api/useRunsEvents';
import { isSpeed } from '../cluster/throughput';

/** What the ranks of a step printed last of the metric that tells how fast they are. */
export interface Speed {
  nodeID: string;
  name: string;
  ranks: Map<number, number>;
}

/** The last speeds by the id of the run. */
export type Speeds = ReadonlyMap<string, Speed>;

/** The speeds after more values. A step that begins to measure takes the place of the one before it. */
export function withPoints(speeds: Speeds, points: Point[]): Speeds {
  let next: Map<string, Speed> | undefined;
  for (const { run_id = '', node_id = '', name = '', rank = -1, value } of points) {
    if (value == null || !isSpeed(name)) continue;
    next ??= new Map(speeds);
    const held = next.get(run_id);
    const goesOn = held && held.nodeID === node_id && held.name === name;
    const ranks = new Map(goesOn ? held.ranks : []).set(rank, value);
    next.set(run_id, { nodeID: node_id, name, ranks });
  }
  return next ?? speeds;
}

/** The value of a rank, on average. */
export function meanOf({ ranks }: Speed): number {
  let sum = 0;
  for (const value of ranks.values()) sum += value;
  return sum / ranks.size;
}
