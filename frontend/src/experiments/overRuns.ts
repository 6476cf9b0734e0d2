import type { Metric, Run } from '../api/client';
import { metricsNamed } from '../runs/metricColumns';
import { isFailure } from '../status/status';

/** A value that a run reported, or a failed run without one. */
export interface RunPoint {
  run: Run;
  /** When the run started, in milliseconds. */
  at: number;
  metric?: Metric;
}

/** What runs reported of a metric, the earliest run first; several steps of a run may report it. */
export function pointsOver(runs: Run[], name: string): RunPoint[] {
  return runs
    .flatMap((run): RunPoint[] => {
      const at = Date.parse(run.started_at ?? run.created_at ?? '');
      if (Number.isNaN(at)) return [];
      const reported = metricsNamed(run, name).map((metric) => ({ run, at, metric }));
      return reported.length > 0 || !isFailure(run.status) ? reported : [{ run, at }];
    })
    .sort((a, b) => a.at - b.at);
}
