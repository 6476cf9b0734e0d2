import { api, data, type Run, type Schema } from './client';
import { asProblem } from './problem';

/** What can be done with many runs at once. */
export const bulkActions = ['terminate', 'retry', 'archive', 'unarchive', 'delete'] as const;

export type BulkAction = (typeof bulkActions)[number];

/** What became of one run, or would. */
export interface BulkResult {
  id: string;
  name: string;
  outcome: 'done' | 'unchanged' | 'failed';
  message: string;
}

interface BulkOptions {
  dryRun: boolean;
  /** Delete what the runs left in the artifact store, too. */
  artifacts?: boolean;
}

/** Does something with runs, or tells what that would do; each has a result of its own. */
export async function bulk(action: BulkAction, runs: Run[], { dryRun, artifacts }: BulkOptions): Promise<BulkResult[]> {
  if (action === 'retry') return retryAll(runs, dryRun);
  const body = { run_ids: runs.map(({ id }) => id), dry_run: dryRun, artifacts: artifacts || undefined };
  const answer = await data(api.POST(`/apis/argosy/v1/runs:${action}`, { body }));
  const names = new Map(runs.map(({ id, name }) => [id, name]));
  return (answer.results ?? []).map((result) => ({
    id: result.run_id ?? '',
    name: result.name || names.get(result.run_id ?? '') || '',
    outcome: outcomes[result.outcome ?? 'OUTCOME_UNSPECIFIED'],
    message: result.message ?? '',
  }));
}

const outcomes: Record<Schema['argosy.v1.BulkResult.Outcome'], BulkResult['outcome']> = {
  OUTCOME_UNSPECIFIED: 'done',
  OUTCOME_DONE: 'done',
  OUTCOME_UNCHANGED: 'unchanged',
  OUTCOME_FAILED: 'failed',
};

// The API retries runs one by one.
async function retryAll(runs: Run[], dryRun: boolean): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  for (const { id, name } of runs) {
    try {
      const { warnings } = await data(
        api.POST('/apis/argosy/v1/runs/{run_id}:retry', {
          params: { path: { run_id: id } },
          body: { dry_run: dryRun },
        }),
      );
      results.push({ id, name, outcome: 'done', message: (warnings ?? []).join('; ') });
    } catch (error) {
      results.push({ id, name, outcome: 'failed', message: asProblem(error).message });
    }
  }
  return results;
}
