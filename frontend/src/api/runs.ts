import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { isFinal } from '../status/status';
import { api, data, type Page, type Parameter, type Run, type Schema } from './client';
import { encodeFilter, type ListSearch, listQuery, type Predicate } from './list';
import { newestFirst } from './pipelines';
import { parseSearchLine, type RunFields, type RunTerms } from './search';
import { shownIn } from './shownIn';

/** What a list of runs shows, as it stands in the URL; q is a search line. */
export interface RunsSearch extends ListSearch {
  /** Statuses to keep; all when absent. */
  status?: string[];
  /** Metric columns; all that are met when absent. */
  metrics?: string[];
  /** Parameter columns; none when absent. */
  params?: string[];
  /** A column of labels. */
  labels?: boolean;
  /** Bars in the columns of metrics. */
  bars?: boolean;
  /** The archive instead of the rest. */
  archived?: boolean;
  /** Runs that are chosen, by their ids. */
  chosen?: string[];
  /** Runs that stay on top; metrics are compared with those of the first. */
  pins?: string[];
  /** The parameter by which runs are grouped, instead of listed. */
  by?: string;
}

/** What the page of an experiment shows, as it stands in the URL. */
export interface ExperimentSearch extends RunsSearch {
  /** The metric that is drawn over the runs; the first that is met when absent. */
  metric?: string;
}

// As many rows as the server gives in one answer.
const largestPage = 200;

/** The newest runs that a list is narrowed to, whichever of its pages is open: as many as one request gives. */
export const newestRunsQuery = ({ q, status, archived }: RunsSearch, scope: RunsScope, client: QueryClient) =>
  runsQuery({ q, status, archived, size: largestPage }, scope, client);

/** What a list of runs is narrowed to by the page that it is on. */
export interface RunsScope {
  experimentID?: string;
  scheduleID?: string;
  pipelineID?: string;
}

/** What narrows a list to a pipeline; the other pages' ids have parameters of their own. */
export const scopeFilter = ({ pipelineID }: RunsScope): Predicate[] =>
  pipelineID ? [{ op: 'EQUALS', key: 'pipeline_id', string_value: pipelineID }] : [];

/** The names of parameters, labels and metrics that runs have. */
export const runFieldsQuery = queryOptions({
  queryKey: ['run-fields'],
  queryFn: async ({ signal }): Promise<RunFields> => data(api.GET('/apis/argosy/v1/runs:fields', { signal })),
  staleTime: 60_000,
});

// A word with an operator may name a parameter, a label or a metric: the fields tell.
const needsFields = /[=<>~:]/;

export const runsQuery = (search: RunsSearch, scope: RunsScope, client: QueryClient) => {
  const { q, status, archived, sort, dir, size, token } = search;
  const asked = { q, status, archived, sort, dir, size, token };
  return queryOptions({
    queryKey: ['runs', asked, scope],
    queryFn: async ({ signal }): Promise<Page<Run>> => {
      const { filter, terms } = await searched(search, scope, client, signal);
      const query = { ...listQuery(search, newestFirst, filter), ...terms };
      return pageOf(await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal })));
    },
  });
};

/** What a search asks the server for. */
async function searched(search: RunsSearch, scope: RunsScope, client: QueryClient, signal: AbortSignal) {
  const line = search.q ?? '';
  const fields = needsFields.test(line) ? await client.ensureQueryData(runFieldsQuery) : {};
  const { terms } = parseSearchLine(line, fields);
  const { status, predicates } = shownIn([...new Set([...(search.status ?? []), ...terms.status])]);
  return {
    filter: [...scopeFilter(scope), ...predicates, ...(await namedIDs(terms, signal))],
    terms: {
      experiment_id: scope.experimentID,
      schedule_id: scope.scheduleID,
      archived: search.archived ?? false,
      status,
      parameter: terms.parameter,
      metric: terms.metric,
      label: terms.label,
      time: terms.time,
      text: terms.text,
    },
  };
}

/** The runs that stay on top, in the order in which they were pinned: one request for all. */
export const pinnedRunsQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ['runs', 'pinned', ids],
    enabled: ids.length > 0,
    queryFn: async ({ signal }): Promise<Run[]> => {
      const filter = encodeFilter([{ op: 'IN', key: 'id', string_values: { values: ids } }]);
      const query = { page_size: largestPage, filter };
      const { items } = pageOf(await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal })));
      return ids.flatMap((id) => items.find((run) => run.id === id) ?? []);
    },
  });

// As many metrics as a table of groups shows unless some are chosen.
const groupedMetrics = 6;

/** All runs of a search, grouped by a parameter, with the metrics that are summed up. */
export const groupsQuery = (
  { q, status, archived, metrics }: RunsSearch,
  scope: RunsScope,
  by: string,
  client: QueryClient,
) =>
  queryOptions({
    queryKey: ['runs', 'groups', { q, status, archived, metrics, by }, scope],
    queryFn: async ({ signal }) => {
      const shown = (
        metrics ??
        (await client.ensureQueryData(runFieldsQuery)).metrics?.slice(0, groupedMetrics) ??
        []
      ).slice(0, 20);
      const { filter, terms } = await searched({ q, status, archived }, scope, client, signal);
      const query = { by, of: shown, filter: encodeFilter(filter), ...terms };
      const answer = await data(api.GET('/apis/argosy/v1/runs:group', { params: { query }, signal }));
      return { groups: answer.groups ?? [], total: answer.total_size ?? 0, metrics: shown };
    },
  });

export const pageOf = (answer: Schema['argosy.v1.ListRunsResponse']): Page<Run> => ({
  items: (answer.runs ?? []) as Run[],
  total: answer.total_size ?? 0,
  next: answer.next_page_token ?? '',
});

// No experiment and no pipeline has this id, so that an unknown name finds nothing.
const nothing = 'none';

/** Predicates for an experiment and a pipeline that are given by name. */
async function namedIDs({ experiment, pipeline }: RunTerms, signal: AbortSignal): Promise<Predicate[]> {
  const query = (name: string) => ({
    page_size: 1,
    filter: encodeFilter([{ op: 'EQUALS', key: 'name', string_value: name }]),
  });
  const predicates: Predicate[] = [];
  if (experiment) {
    const answer = await data(api.GET('/apis/v1beta1/experiments', { params: { query: query(experiment) }, signal }));
    predicates.push({ op: 'EQUALS', key: 'experiment_id', string_value: answer.experiments?.[0]?.id ?? nothing });
  }
  if (pipeline) {
    const answer = await data(api.GET('/apis/v1beta1/pipelines', { params: { query: query(pipeline) }, signal }));
    predicates.push({ op: 'EQUALS', key: 'pipeline_id', string_value: answer.pipelines?.[0]?.id ?? nothing });
  }
  return predicates;
}

/** The newest runs of some experiments, as many as a page can have: one call for all rows of a list of experiments. */
export const runsOfExperimentsQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ['runs', 'of', ids],
    enabled: ids.length > 0,
    queryFn: async ({ signal }): Promise<Page<Run>> => {
      const query = {
        page_size: largestPage,
        sort_by: 'created_at desc',
        filter: encodeFilter([{ op: 'IN', key: 'experiment_id', string_values: { values: ids } }]),
      };
      return pageOf(await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal })));
    },
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

/** The parameters of a version, with their defaults. */
export const versionParametersQuery = (versionID: string) =>
  queryOptions({
    queryKey: ['version', versionID, 'parameters'],
    queryFn: async ({ signal }) => {
      const path = { version_id: versionID };
      const version = await data(api.GET('/apis/v1beta1/pipeline_versions/{version_id}', { params: { path }, signal }));
      return (version.parameters ?? []) as Parameter[];
    },
    // A version does not change.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What a retry begins with, and with which parameters instead of the run's. */
export interface Retry {
  runID: string;
  /** The id of a step; what failed when empty. */
  step: string;
  parameters: Parameter[];
}

/** Goes on with a run that has ended, or only says what would run again. */
export async function retryRun({ runID, step, parameters }: Retry, dryRun: boolean) {
  const answer = await data(
    api.POST('/apis/argosy/v1/runs/{run_id}:retry', {
      params: { path: { run_id: runID } },
      body: { step: step || undefined, parameters, dry_run: dryRun },
    }),
  );
  return { again: answer.again ?? [], warnings: answer.warnings ?? [] };
}

/** One container's log of a step: the step's own, or of a pod of its distributed job. */
export type NodeLog = Schema['argosy.v1.Log'];

// How often it is asked which logs there are while the step goes on, in milliseconds.
const logsRefresh = 4_000;

export const nodeLogsQuery = (runID: string, nodeID: string, live: boolean) =>
  queryOptions({
    queryKey: ['run', runID, 'logs', nodeID],
    queryFn: async ({ signal }) => {
      const path = { run_id: runID, node_id: nodeID };
      const answer = await data(
        api.GET('/apis/argosy/v1/runs/{run_id}/nodes/{node_id}/logs', { params: { path }, signal }),
      );
      return (answer.logs ?? []) as NodeLog[];
    },
    refetchInterval: live ? logsRefresh : false,
  });

/** The logs of all steps. */
export const runLogsQuery = (run: Run) =>
  queryOptions({
    queryKey: ['run', run.id, 'logs'],
    queryFn: async ({ signal }) => {
      const params = { path: { run_id: run.id } };
      return ((await data(api.GET('/apis/argosy/v1/runs/{run_id}/logs', { params, signal }))).logs ?? []) as NodeLog[];
    },
    refetchInterval: isFinal(run.status) ? false : logsRefresh,
  });

export interface NewRun {
  name: string;
  description: string;
  versionID: string;
  experimentID: string;
  parameters: Parameter[];
}

export const runBody = (run: NewRun): Schema['api.Run'] => ({
  name: run.name,
  description: run.description || undefined,
  pipeline_spec: { parameters: run.parameters },
  resource_references: [
    { key: { type: 'EXPERIMENT', id: run.experimentID }, relationship: 'OWNER' },
    { key: { type: 'PIPELINE_VERSION', id: run.versionID }, relationship: 'CREATOR' },
  ],
});

/** Starts a run and gives its id. */
export const createRun = async (run: NewRun): Promise<string> =>
  (await data(api.POST('/apis/v1beta1/runs', { body: runBody(run) }))).run?.id ?? '';

export type CheckedRun = Schema['argosy.v1.CreateRunResponse'];

/** What the server finds out about a run without starting it. */
export const checkRunQuery = ({ versionID, parameters }: Pick<NewRun, 'versionID' | 'parameters'>) =>
  queryOptions({
    queryKey: ['run-check', versionID, parameters],
    queryFn: ({ signal }): Promise<CheckedRun> =>
      data(api.POST('/apis/argosy/v1/runs', { body: { version_id: versionID, parameters, dry_run: true }, signal })),
    // Nodes come and go.
    staleTime: 10_000,
    retry: false,
  });

export const terminateRun = (id: string) =>
  data(api.POST('/apis/v1beta1/runs/{run_id}/terminate', { params: { path: { run_id: id } } }));
