import { queryOptions } from '@tanstack/react-query';
import { isFinal } from '../status/status';
import { api, data, type Run, type Schema } from './client';

export type Cluster = Schema['argosy.v1.Cluster'];
export type ClusterNode = Schema['argosy.v1.ClusterNode'];
export type ResourceUse = Schema['argosy.v1.ResourceUse'];
export type Holder = Schema['argosy.v1.Holder'];
export type Amount = Schema['argosy.v1.Amount'];
export type Disk = Schema['argosy.v1.Disk'];
export type Queue = Schema['argosy.v1.Queue'];
export type PodGroup = Schema['argosy.v1.PodGroup'];
export type MissingRight = Schema['argosy.v1.MissingRight'];
export type RunJob = Schema['argosy.v1.RunJob'];
export type Preemption = Schema['argosy.v1.Preemption'];
export type Worker = Schema['argosy.v1.Worker'];
export type ObjectName = Schema['argosy.v1.ObjectName'];
export type Pending = Schema['argosy.v1.Pending'];
export type PendingResource = Schema['argosy.v1.PendingResource'];
export type ClusterEvent = Schema['argosy.v1.ClusterEvent'];

// How often the cluster is read again while somebody looks, in milliseconds.
const refresh = 5_000;

export const clusterQuery = queryOptions({
  queryKey: ['cluster'],
  queryFn: ({ signal }): Promise<Cluster> => data(api.GET('/apis/argosy/v1/cluster', { signal })),
  refetchInterval: refresh,
});

// Operators tidy up for some time after the end of a run, in milliseconds.
const tidying = 60_000;

const every = (run: Run) => () =>
  isFinal(run.status) && !(Date.now() - Date.parse(run.finished_at ?? '') < tidying) ? false : refresh;

/** The distributed jobs of a run, as the cluster has them now. */
export const runJobsQuery = (run: Run) =>
  queryOptions({
    queryKey: ['run', run.id, 'jobs'],
    queryFn: ({ signal }) =>
      data(api.GET('/apis/argosy/v1/runs/{run_id}/jobs', { params: { path: { run_id: run.id } }, signal })),
    refetchInterval: every(run),
  });

/** What each step of a run waits for, as the cluster has it now. */
export const pendingQuery = (run: Run) =>
  queryOptions({
    queryKey: ['run', run.id, 'pending'],
    queryFn: ({ signal }) =>
      data(api.GET('/apis/argosy/v1/runs/{run_id}/pending', { params: { path: { run_id: run.id } }, signal })),
    refetchInterval: refresh,
  });

/** One object of a run's distributed jobs, as YAML. */
export const jobObjectQuery = (run: Run, object: ObjectName) =>
  queryOptions({
    queryKey: ['run', run.id, 'jobs', object.kind, object.name],
    queryFn: async ({ signal }) => {
      const path = { run_id: run.id, kind: object.kind ?? '', name: object.name ?? '' };
      const answer = await data(
        api.GET('/apis/argosy/v1/runs/{run_id}/jobs/{kind}/{name}', { params: { path }, signal }),
      );
      return answer.yaml ?? '';
    },
    refetchInterval: every(run),
  });

/** What Kubernetes tells of a run's objects, the newest first. */
export const runEventsQuery = (run: Run) =>
  queryOptions({
    queryKey: ['run', run.id, 'clusterEvents'],
    queryFn: ({ signal }) =>
      data(api.GET('/apis/argosy/v1/runs/{run_id}/cluster-events', { params: { path: { run_id: run.id } }, signal })),
    refetchInterval: every(run),
  });
