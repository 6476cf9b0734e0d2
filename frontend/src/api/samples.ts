import { queryOptions } from '@tanstack/react-query';
import { api, data, type Schema } from './client';

export type Sample = Schema['argosy.v1.Sample'] & { name: string };

/** The pipelines that come with the server, the one to begin with first. */
export const samplesQuery = queryOptions({
  queryKey: ['samples'],
  queryFn: async ({ signal }) =>
    ((await data(api.GET('/apis/argosy/v1/samples', { signal }))).samples ?? []) as Sample[],
});

/** Starts a run of a sample, and gives the run's id. */
export async function startSample(name: string): Promise<string> {
  const params = { path: { name } };
  return (await data(api.POST('/apis/argosy/v1/samples/{name}:start', { params, body: {} }))).run_id ?? '';
}
