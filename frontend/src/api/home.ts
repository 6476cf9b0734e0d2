import { queryOptions } from '@tanstack/react-query';
import { api, data, type Page, type Run } from './client';
import { encodeFilter } from './list';
import { pageOf } from './runs';
import type { Job } from './schedules';
import { shownIn } from './shownIn';

/** As many rows as a subject of the page has. */
export const homeRows = 6;
const recentRuns = 200;

/** The newest runs that are shown in some states, and how many of them there are in all. */
const newest = (states: readonly string[]) =>
  queryOptions({
    queryKey: ['runs', 'home', states],
    queryFn: async ({ signal }): Promise<Page<Run>> => {
      const { status, predicates } = shownIn([...states]);
      const filter = encodeFilter(predicates);
      const query = { page_size: homeRows, sort_by: 'created_at desc', archived: false, status, filter };
      return pageOf(await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal })));
    },
  });

/** The states of the subjects of the page, as the list of runs can be narrowed to them. */
export const homeStates = {
  running: ['Running', 'Terminating'],
  waiting: ['Pending', 'Waiting'],
  failed: ['Failed', 'Error'],
};

export const runningRunsQuery = newest(homeStates.running);
export const waitingRunsQuery = newest(homeStates.waiting);
export const failedRunsQuery = newest(homeStates.failed);

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
