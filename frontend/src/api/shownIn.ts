import { isFinal } from '../status/status';
import type { Predicate } from './list';

/**
 * Narrows a list to runs that are shown in these states. While all its steps wait, a run is shown as Waiting and its own
 * status is another: only the field shown_status tells. A run that was only accepted has none and is shown as Pending.
 */
export function shownIn(statuses: string[]): { status: string[]; predicates: Predicate[] } {
  if (statuses.every(isFinal)) return { status: statuses, predicates: [] };
  const values = statuses.flatMap((status) => (status === 'Pending' ? [status, ''] : [status]));
  return { status: [], predicates: [{ op: 'IN', key: 'shown_status', string_values: { values } }] };
}
