import type { Worker } from '../api/cluster';
import type { Series } from '../api/series';

/** How fast a worker is: the value of each of its ranks lately, on average. */
export interface Speed {
  value: number;
  /** Against the median of all workers; -0.2 is a fifth slower. */
  deviation: number;
  straggler: boolean;
}

// The median of this many values at the end of a curve counts, so that one slow step marks no worker.
const lately = 10;
// So much slower than the median is a straggler.
const slower = 0.1;

const speeds = /(\/|_per_)s(ec(ond)?)?$|throughput/i;

/** Whether a metric tells how fast a step is, by its name. */
export const isSpeed = (name: string) => speeds.test(name);

/** The speed of a step that most of its series tell. */
function mostPrinted(series: Series[], nodeID: string | undefined, firstRank: number, least: number) {
  const ranks = new Map<string, number>();
  for (const { nodeID: own, name, rank } of series) {
    if (own === nodeID && rank >= firstRank && isSpeed(name)) ranks.set(name, (ranks.get(name) ?? 0) + 1);
  }
  return [...ranks].filter(([, count]) => count >= least).sort((a, b) => b[1] - a[1])[0]?.[0];
}

/** The metric of a step that tells how fast each rank is: more than one rank prints it. */
export const speedMetric = (series: Series[], nodeID: string | undefined) => mostPrinted(series, nodeID, 0, 2);

/** The first of these steps that tells its speed, by ranks or by none, and the metric that does. */
export function stepSpeed(series: Series[], nodeIDs: string[]): { nodeID: string; name: string } | undefined {
  for (const nodeID of nodeIDs) {
    const name = mostPrinted(series, nodeID, -1, 1);
    if (name) return { nodeID, name };
  }
  return undefined;
}

/** How fast a rank has been lately; undefined while it prints nothing. */
function latelyOf({ points }: Series): number | undefined {
  const values = points.map(({ value }) => value).filter((value) => value !== null);
  return median(values.slice(-lately));
}

/** The mean of what all ranks of a step have printed lately, and how many they are. */
export function meanSpeed(series: Series[], nodeID: string): { value: number; ranks: number } | undefined {
  const values = series
    .filter((one) => one.nodeID === nodeID)
    .map(latelyOf)
    .filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return { value: values.reduce((sum, value) => sum + value, 0) / values.length, ranks: values.length };
}

function median(values: number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** The speed of each worker by the name of its pod. Those whose ranks print nothing are left out. */
export function speedsOf(workers: Worker[], series: Series[], nodeID: string | undefined): Map<string, Speed> {
  const byRank = new Map<number, number>();
  for (const one of series) {
    const value = latelyOf(one);
    if (one.nodeID === nodeID && value !== undefined) byRank.set(one.rank, value);
  }
  const means = new Map<string, number>();
  for (const { pod = '', first_rank, last_rank } of workers) {
    if (first_rank == null || last_rank == null) continue;
    const own = [...byRank].filter(([rank]) => rank >= first_rank && rank <= last_rank).map(([, value]) => value);
    if (own.length > 0) means.set(pod, own.reduce((sum, value) => sum + value, 0) / own.length);
  }
  const middle = median([...means.values()]);
  const found = new Map<string, Speed>();
  for (const [pod, value] of means) {
    const deviation = middle ? value / middle - 1 : 0;
    found.set(pod, { value, deviation, straggler: means.size > 1 && deviation < -slower });
  }
  return found;
}
