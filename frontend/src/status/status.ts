/** What runs and their steps are shown as, in the order in which a filter offers it. */
export const runStatuses = [
  'Pending',
  'Waiting',
  'Running',
  'Succeeded',
  'Failed',
  'Error',
  'Terminating',
  'Terminated',
] as const;

export type Status = (typeof runStatuses)[number] | 'Skipped' | 'Omitted';

const known: ReadonlySet<string> = new Set<Status>([...runStatuses, 'Skipped', 'Omitted']);

/** A status as the server says it; none means accepted and not yet begun. */
export function statusOf(phase: string | undefined): Status | undefined {
  if (!phase) return 'Pending';
  return known.has(phase) ? (phase as Status) : undefined;
}

/** What a run is shown as: one whose steps all wait is not shown as running. */
export const shownStatus = ({ status, waiting }: { status?: string; waiting?: object }) =>
  waiting && !isFinal(status) ? 'Waiting' : status;

/** Whether a run or step will not change any more. */
export const isFinal = (phase: string | undefined) => phase !== undefined && ends.has(phase);

const ends: ReadonlySet<string> = new Set<Status>(['Succeeded', 'Failed', 'Error', 'Terminated', 'Skipped', 'Omitted']);

export const isFailure = (phase: string | undefined) => phase === 'Failed' || phase === 'Error';

/** Whether a step has begun, and so has a duration. */
export const hasRun = (phase: string | undefined) =>
  Boolean(phase) && phase !== 'Pending' && phase !== 'Skipped' && phase !== 'Omitted';
