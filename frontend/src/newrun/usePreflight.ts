import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { asProblem } from '../api/problem';
import { type CheckedRun, checkRunQuery, type NewRun } from '../api/runs';

export interface Preflight {
  /** What the server found; of the values before while it looks at new ones. */
  result?: CheckedRun;
  /** Why the server would refuse the run. */
  refusal?: unknown;
  waits: boolean;
  /** The run as it is written can never run. */
  blocks: boolean;
}

// Typing should not ask the server at each key.
const typingPause = 400;

/** Asks the server what would become of a run, a moment after its values change. */
export function usePreflight(run: NewRun, enabled: boolean): Preflight {
  // Name, description and experiment make no difference to where its steps fit.
  const asked = JSON.stringify({ versionID: run.versionID, parameters: run.parameters });
  const [settled] = useDebouncedValue(asked, typingPause);
  const { data, error, isFetching } = useQuery({
    ...checkRunQuery(JSON.parse(settled)),
    enabled: enabled && asked === settled,
    placeholderData: keepPreviousData,
  });
  const current = enabled && asked === settled && !isFetching;
  const refusal = current && error && !asProblem(error).transient ? error : undefined;
  return {
    result: enabled && !error ? data : undefined,
    refusal,
    waits: enabled && !current,
    blocks: Boolean(refusal) || (current && (data?.shortages?.length ?? 0) > 0),
  };
}
