import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, data, type Run, type Schema } from './client';

export type Comparison = Omit<Schema['argosy.v1.Comparison'], 'runs'> & { runs: Run[] };
export type ComparedMetric = Schema['argosy.v1.ComparedMetric'];
export type ComparedParameter = Schema['argosy.v1.ComparedParameter'];
export type ComparedSeries = Schema['argosy.v1.ComparedSeries'];

/** Runs beside each other: parameters, metrics, and which curves there are. */
export const comparisonQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ['comparison', ids],
    enabled: ids.length >= 2,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Comparison> => {
      const answer = await data(
        api.GET('/apis/argosy/v1/runs:compare', { params: { query: { run_ids: ids, without_points: true } }, signal }),
      );
      return { ...answer, runs: (answer.runs ?? []) as Run[] };
    },
  });

/** The curves of one metric along one axis, of every step that has it. */
export const comparedCurvesQuery = (ids: string[], metric: string, align: 'step' | 'time') =>
  queryOptions({
    queryKey: ['comparison', ids, 'curves', metric, align],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { run_ids: ids, metrics: [metric], align, points: 200 };
      return (await data(api.GET('/apis/argosy/v1/runs:compare', { params: { query }, signal }))).series ?? [];
    },
  });

export type RunVisuals = Schema['argosy.v1.RunVisuals'];

/** The ROC curves and tables of runs, with their content. */
export const comparedVisualsQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ['comparison', ids, 'visuals'],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) =>
      (await data(api.GET('/apis/argosy/v1/runs:visuals', { params: { query: { run_ids: ids } }, signal }))).runs ?? [],
  });
