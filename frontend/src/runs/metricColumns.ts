import type { Metric, Run } from '../api/client';
import { type Figure, figureName } from '../api/search';

/** Names of the metrics that runs have, in the order in which they are met. */
export function metricNames(runs: Run[]): string[] {
  const names = new Set<string>();
  for (const run of runs) for (const metric of run.metrics ?? []) if (metric.name) names.add(metric.name);
  return [...names];
}

/** The columns to show: those chosen, in their order, else all that are met. */
export const metricColumns = (chosen: string[] | undefined, met: string[]) => chosen ?? met;

/** The curve that a figure such as last(loss) is of. */
const curveNamed = (run: Run, name: string) => run.curves?.find((curve) => curve.name === figureName.exec(name)?.[2]);

/** Whether a figure's value is none that can be written: the curve ended with NaN, or has nothing else. */
export const isNaNOf = (run: Run, name: string) =>
  Boolean(curveNamed(run, name)) && metricsNamed(run, name).length === 0;

/** What a run has under a name; several steps may report the same. */
export function metricsNamed(run: Run, name: string): Metric[] {
  const [, figure] = figureName.exec(name) ?? [];
  if (!figure) return (run.metrics ?? []).filter((metric) => metric.name === name) as Metric[];
  const curve = curveNamed(run, name);
  const value = curve?.[figure as Figure];
  return value === undefined ? [] : [{ name, value, format: curve?.format }];
}
