import { queryOptions } from '@tanstack/react-query';
import { api, data, type Page, type Parameter, type Run, type Schema } from './client';
import { encodeFilter, type ListSearch, listQuery, named } from './list';
import { newestFirst } from './pipelines';

export type Job = Schema['api.Job'] & { id: string; name: string };

export const schedulesQuery = (search: ListSearch) =>
  queryOptions({
    queryKey: ['schedules', search],
    queryFn: async ({ signal }): Promise<Page<Job>> => {
      const query = listQuery(search, newestFirst, named(search.q));
      const answer = await data(api.GET('/apis/v1beta1/jobs', { params: { query }, signal }));
      return { items: (answer.jobs ?? []) as Job[], total: answer.total_size ?? 0, next: answer.next_page_token ?? '' };
    },
  });

export const scheduleQuery = (id: string) =>
  queryOptions({
    queryKey: ['schedule', id],
    queryFn: async ({ signal }) =>
      (await data(api.GET('/apis/v1beta1/jobs/{id}', { params: { path: { id } }, signal }))) as Job,
  });

// Every scheduled run is made for a time; others have none.
const scheduled = encodeFilter([{ op: 'GREATER_THAN', key: 'scheduled_at', timestamp_value: '1971-01-01T00:00:00Z' }]);

/** The newest runs that schedules made, of all schedules at once, so that a list of schedules asks once for all its rows. */
export const scheduledRunsQuery = queryOptions({
  queryKey: ['runs', 'scheduled'],
  queryFn: async ({ signal }) => {
    const query = { page_size: 200, sort_by: 'created_at desc', filter: scheduled };
    return ((await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal }))).runs ?? []) as Run[];
  },
});

/** What starts a schedule's runs; exactly one of cron and seconds. */
export interface Trigger {
  cron?: string;
  seconds?: number;
  start?: string;
  end?: string;
}

export interface NewSchedule {
  name: string;
  description: string;
  versionID: string;
  experimentID: string;
  parameters: Parameter[];
  trigger: Trigger;
  maxConcurrency: number;
  catchUp: boolean;
  serviceAccount?: string;
}

export const scheduleBody = (schedule: NewSchedule): Schema['api.Job'] => {
  const { cron, seconds, start, end } = schedule.trigger;
  const span = { start_time: start, end_time: end };
  return {
    name: schedule.name,
    description: schedule.description || undefined,
    pipeline_spec: { parameters: schedule.parameters },
    resource_references: [
      { key: { type: 'EXPERIMENT', id: schedule.experimentID }, relationship: 'OWNER' },
      { key: { type: 'PIPELINE_VERSION', id: schedule.versionID }, relationship: 'CREATOR' },
    ],
    max_concurrency: String(schedule.maxConcurrency),
    no_catchup: !schedule.catchUp,
    service_account: schedule.serviceAccount,
    enabled: true,
    trigger: cron
      ? { cron_schedule: { cron, ...span } }
      : { periodic_schedule: { interval_second: String(seconds), ...span } },
  };
};

/** Makes a schedule and gives its id. */
export const createSchedule = async (schedule: NewSchedule): Promise<string> =>
  (await data(api.POST('/apis/v1beta1/jobs', { body: scheduleBody(schedule) }))).id ?? '';

/** Makes a schedule what is given. It stays enabled or paused, and keeps its runs. */
export const updateSchedule = (id: string, schedule: NewSchedule) =>
  data(api.PUT('/apis/argosy/v1/schedules/{id}', { params: { path: { id } }, body: scheduleBody(schedule) }));

export const enableSchedule = (id: string, enabled: boolean) =>
  data(
    enabled
      ? api.POST('/apis/v1beta1/jobs/{id}/enable', { params: { path: { id } } })
      : api.POST('/apis/v1beta1/jobs/{id}/disable', { params: { path: { id } } }),
  );

export const deleteSchedule = (id: string) => data(api.DELETE('/apis/v1beta1/jobs/{id}', { params: { path: { id } } }));

/** Starts one run of what a schedule runs, now. Its id is given. It does not count as the schedule's own. */
export async function runNow(job: Job, name: string): Promise<string> {
  const { workflow_manifest, parameters } = job.pipeline_spec ?? {};
  const references = job.resource_references ?? [];
  const version = references.some(({ key }) => key?.type === 'PIPELINE_VERSION');
  const detail = await data(
    api.POST('/apis/v1beta1/runs', {
      body: {
        name,
        service_account: job.service_account,
        // A version's manifest is the schedule's; a manifest given in place has to be sent again.
        pipeline_spec: version ? { parameters } : { workflow_manifest, parameters },
        resource_references: references.map(({ key, relationship }) => ({ key, relationship })),
      },
    }),
  );
  return detail.run?.id ?? '';
}
