import { queryOptions } from '@tanstack/react-query';
import { api, data, type Run } from './client';
import type { Job } from './schedules';

const openStatuses = ['Accepted', 'Pending', 'Running', 'Terminating'];
const mostOpen = 50;
const recentRuns = 200;

/** Runs that have not ended, the newest first. */
export const openRunsQuery = queryOptions({
  queryKey: ['runs', 'open'],
  queryFn: async ({ signal }) => {
    const query = { page_size: mostOpen, sort_by: 'created_at desc', status: openStatuses, archived: false };
    return ((await data(api.GET('/apis/argosy/v1/runs', { params: { query }, signal }))).runs ?? []) as Run[];
  },
});

/** The newest runs of all: those that failed are among them, and how long runs of a pipeline usually take. */
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
