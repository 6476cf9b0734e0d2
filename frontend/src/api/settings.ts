import { queryOptions } from '@tanstack/react-query';
import { api, data, type Schema } from './client';

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => data(api.GET('/apis/v1beta1/healthz', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** What to keep: an age, a number, or both, as in 90d,1000. */
export interface Policy {
  keep_runs?: string;
  keep_artifacts?: string;
  keep_logs?: string;
}

export type Pruned = Schema['argosy.v1.PruneResponse'];

/** Removes what a policy does not keep, or tells what that would be. */
export const prune = (policy: Policy, dryRun: boolean): Promise<Pruned> =>
  data(api.POST('/apis/argosy/v1/prune', { body: { ...policy, dry_run: dryRun } }));
