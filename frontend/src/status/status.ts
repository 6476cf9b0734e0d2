/** The phases of runs and of their steps, in the order in which a filter offers them. */
export const runStatuses = ['Pending', 'Running', 'Succeeded', 'Failed', 'Error', 'Terminating'] as const;

export type Status = (typeof runStatuses)[number] | 'Skipped' | 'Omitted';

const known: ReadonlySet<string> = new Set<Status>([...runStatuses, 'Skipped', 'Omitted']);

/** A status as the server says it; none means accepted and not yet begun. */
export function statusOf(phase: string | undefined): Status | undefined {
  if (!phase) return 'Pending';
  return known.has(phase) ? (phase as Status) : undefined;
}

/** Whether a run or step will not change any more. */
export const isFinal = (phase: string | undefined) =>
  phase === 'Succeeded' || phase === 'Failed' || phase === 'Error' || phase === 'Skipped' || phase === 'Omitted';

export const isFailure = (phase: string | undefined) => phase === 'Failed' || phase === 'Error';

/** Whether a step has begun, and so has a duration. */
export const hasRun = (phase: string | undefined) =>
  Boolean(phase) && phase !== 'Pending' && phase !== 'Skipped' && phase !== 'Omitted';
