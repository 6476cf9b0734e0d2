import type { Metric, Run } from '../api/client';

/** Names of the metrics that runs have, in the order in which they are met. */
export function metricNames(runs: Run[]): string[] {
  const names = new Set<string>();
  for (const run of runs) for (const metric of run.metrics ?? []) if (metric.name) names.add(metric.name);
  return [...names];
}

/** The columns to show: those chosen, in their order, else all that are met. */
export const metricColumns = (chosen: string[] | undefined, met: string[]) => chosen ?? met;

/** What a run has under a name; several steps may report the same. */
export const metricsNamed = (run: Run, name: string) =>
  (run.metrics ?? []).filter((metric) => metric.name === name) as Metric[];
