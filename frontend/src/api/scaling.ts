import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ScalingSearch } from '../scaling/scalingSearch';
import { api, data, type Experiment, type Schema } from './client';
import { listQuery } from './list';
import { newestFirst } from './pipelines';

export type ScalingReport = Schema['argosy.v1.ScalingReport'];
export type ScalingResult = Schema['argosy.v1.ScalingResult'];
export type ScalingLine = Schema['argosy.v1.ScalingLine'];
export type ScalingCell = Schema['argosy.v1.ScalingCell'];

/** A price counts only with its source, so that no number is asked for while one is being written. */
const priced = ({ price, source }: ScalingSearch) => (source && Number(price) > 0 ? Number(price) : undefined);

const asked = (search: ScalingSearch) => ({
  run_ids: search.runs,
  experiment_id: search.runs?.length ? undefined : search.experiment,
  metric: search.metric,
  step: search.step,
  by: search.by,
  base: search.base,
  ignore: search.ignore,
  price: priced(search),
  price_source: priced(search) ? search.source : undefined,
});

/** How throughput changes with a parameter of runs; the server counts, as argosy report does. */
export const scalingQuery = (search: ScalingSearch) =>
  queryOptions({
    queryKey: ['scaling', asked(search)],
    enabled: Boolean(search.runs?.length || search.experiment),
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ScalingReport> =>
      data(api.GET('/apis/argosy/v1/scaling', { params: { query: asked(search) }, signal })),
  });

export type ScalingFormat = 'md' | 'csv' | 'json' | 'html';

/** The same report as a file. */
export async function exportScaling(search: ScalingSearch, format: ScalingFormat) {
  const report = Object.entries(asked(search)).map(([name, value]) => [`report.${name}`, value] as const);
  const query = { ...Object.fromEntries(report), format };
  const file = await data(api.GET('/apis/argosy/v1/scaling:export', { params: { query } }));
  return { name: file.file_name ?? `scaling.${format}`, type: file.media_type ?? '', text: file.text ?? '' };
}

/** The newest experiments, those of sweeps among them. */
export const sweepsQuery = queryOptions({
  queryKey: ['experiments', 'sweeps'],
  queryFn: async ({ signal }): Promise<Experiment[]> => {
    const query = listQuery({ size: 100 }, newestFirst, []);
    const answer = await data(api.GET('/apis/v1beta1/experiments', { params: { query }, signal }));
    return (answer.experiments ?? []) as Experiment[];
  },
});
