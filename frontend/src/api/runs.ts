import { queryOptions } from '@tanstack/react-query';
import { isFinal } from '../status/status';
import { api, data, type Page, type Parameter, type Run } from './client';
import { type ListSearch, listQuery, named, type Predicate } from './list';
import { newestFirst } from './pipelines';

/** What a list of runs shows, as it stands in the URL. */
export interface RunsSearch extends ListSearch {
  /** Statuses to keep; all when absent. */
  status?: string[];
  /** Metric columns; all that are met when absent. */
  metrics?: string[];
}

// While something runs the page is read often enough to look live; otherwise rarely, as other people start runs too.
const busyPoll = 2_000;
const idlePoll = 10_000;

/** How often to read a page of runs again, in milliseconds. */
export const runsPoll = (runs: Run[] | undefined) => (runs?.some((r) => !isFinal(r.status)) ? busyPoll : idlePoll);

export const runsQuery = ({ metrics: _, ...search }: RunsSearch, experimentID?: string) =>
  queryOptions({
    queryKey: ['runs', search, experimentID],
    queryFn: async ({ signal }): Promise<Page<Run>> => {
      const filter: Predicate[] = named(search.q);
      if (search.status?.length) filter.push({ op: 'IN', key: 'status', string_values: { values: search.status } });
      const query = { ...listQuery(search, newestFirst, filter), experiment_id: experimentID };
      const answer = await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal }));
      return {
        items: (answer.runs ?? []) as Run[],
        total: answer.total_size ?? 0,
        next: answer.next_page_token ?? '',
      };
    },
    refetchInterval: (query) => runsPoll(query.state.data?.items),
  });

/** The newest runs of all experiments, as many as a page can have. */
export const recentRunsQuery = queryOptions({
  queryKey: ['runs', 'recent'],
  queryFn: async ({ signal }): Promise<Page<Run>> => {
    const query = { page_size: 200, sort_by: 'created_at desc' };
    const answer = await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal }));
    return {
      items: (answer.runs ?? []) as Run[],
      total: answer.total_size ?? 0,
      next: answer.next_page_token ?? '',
    };
  },
  refetchInterval: (query) => runsPoll(query.state.data?.items),
});

/** The newest runs of one experiment. */
export const lastRunsQuery = (experimentID: string, count: number) =>
  queryOptions({
    queryKey: ['runs', 'last', experimentID, count],
    queryFn: async ({ signal }) => {
      const query = { experiment_id: experimentID, page_size: count, sort_by: 'created_at desc' };
      return ((await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal }))).runs ?? []) as Run[];
    },
    refetchInterval: (query) => runsPoll(query.state.data),
  });

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: async ({ signal }) =>
      (await data(api.GET('/apis/argosy/v1/runs/{run_id}', { params: { path: { run_id: id } }, signal }))) as Run,
  });

/** The live Workflow of a run, as JSON text; empty while there is none. */
export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id, 'workflow'],
    queryFn: async ({ signal }) => {
      const detail = await data(api.GET('/apis/v1beta1/runs/{run_id}', { params: { path: { run_id: id } }, signal }));
      return detail.pipeline_runtime?.workflow_manifest ?? '';
    },
  });

export interface NewRun {
  name: string;
  description: string;
  versionID: string;
  experimentID: string;
  parameters: Parameter[];
}

/** Starts a run and gives its id. */
export async function createRun(run: NewRun): Promise<string> {
  const detail = await data(
    api.POST('/apis/v1beta1/runs', {
      body: {
        name: run.name,
        description: run.description || undefined,
        pipeline_spec: { parameters: run.parameters },
        resource_references: [
          { key: { type: 'EXPERIMENT', id: run.experimentID }, relationship: 'OWNER' },
          { key: { type: 'PIPELINE_VERSION', id: run.versionID }, relationship: 'CREATOR' },
        ],
      },
    }),
  );
  return detail.run?.id ?? '';
}

export const terminateRun = (id: string) =>
  data(api.POST('/apis/v1beta1/runs/{run_id}/terminate', { params: { path: { run_id: id } } }));

/** Where a step's log is read; with follow it goes on until the step ends. */
export function logURL(runID: string, nodeID: string, follow = false): string {
  const path = `/apis/argosy/v1/runs/${encodeURIComponent(runID)}/nodes/${encodeURIComponent(nodeID)}/log`;
  return follow ? `${path}?follow=true` : path;
}
