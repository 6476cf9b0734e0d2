import { queryOptions } from '@tanstack/react-query';
import { api, data, type Page, type Run } from './client';
import { encodeFilter } from './list';
import { pageOf } from './runs';
import type { Job } from './schedules';

/** As many rows as a subject of the page has. */
export const homeRows = 6;
const recentRuns = 200;

interface Kind {
  status?: string[];
  filter?: string;
}

/** The newest runs of one kind, and how many of it there are in all. */
const newest = (name: string, kind: Kind) =>
  queryOptions({
    queryKey: ['runs', 'home', name],
    queryFn: async ({ signal }): Promise<Page<Run>> => {
      const query = { page_size: homeRows, sort_by: 'created_at desc', archived: false, ...kind };
      return pageOf(await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal })));
    },
  });

// By what they are shown as: the status of a run is Running also while all its steps wait.
const begun = encodeFilter([{ op: 'IN', key: 'shown_status', string_values: { values: ['Running', 'Terminating'] } }]);

export const runningRunsQuery = newest('running', { filter: begun });
export const waitingRunsQuery = newest('waiting', { status: ['Accepted', 'Pending', 'Waiting'] });
export const failedRunsQuery = newest('failed', { status: ['Failed', 'Error'] });

/** The newest runs of all: they tell how long runs of a pipeline usually take. */
export const recentRunsQuery = queryOptions({
  queryKey: ['runs', 'recent'],
  queryFn: async ({ signal }) => {
    const query = { page_size: recentRuns, sort_by: 'created_at desc', archived: false };
    return ((await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal }))).runs ?? []) as Run[];
  },
});

export const dueJobsQuery = queryOptions({
  queryKey: ['schedules', 'due'],
  queryFn: async ({ signal }) => {
    const query = { page_size: 200, sort_by: 'created_at desc' };
    return ((await data(api.GET('/apis/v1beta1/jobs', { params: { query }, signal }))).jobs ?? []) as Job[];
  },
});
