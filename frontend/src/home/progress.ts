import type { Run } from '../api/client';
import { elapsed } from '../format/format';

/** How long runs of each pipeline took, in milliseconds: the median of those that succeeded. */
export function usualDurations(runs: Run[]): Map<string, number> {
  const taken = new Map<string, number[]>();
  for (const run of runs) {
    const ms = elapsed(run.started_at, run.finished_at, 0);
    if (run.status !== 'Succeeded' || !run.pipeline?.id || !run.finished_at || !ms) continue;
    taken.set(run.pipeline.id, [...(taken.get(run.pipeline.id) ?? []), ms]);
  }
  return new Map(
    [...taken].map(([pipeline, all]) => [pipeline, all.sort((a, b) => a - b)[Math.floor(all.length / 2)] as number]),
  );
}

/** The first line of an error: the rest is on the run's page. */
export const firstLine = (text: string | undefined) => (text ?? '').trim().split('\n')[0] ?? '';
