import { queryOptions } from '@tanstack/react-query';
import { api, data, type Experiment, type Page, type Schema } from './client';
import { type ListSearch, listQuery, named, type Predicate } from './list';
import { newestFirst } from './pipelines';

/** What the list of experiments shows, as it stands in the URL. */
export interface ExperimentsSearch extends ListSearch {
  /** The archive instead of the rest. */
  archived?: boolean;
  /** Those that were deleted instead of the rest. */
  deleted?: boolean;
}

export const experimentsQuery = (search: ExperimentsSearch) =>
  queryOptions({
    queryKey: ['experiments', search],
    queryFn: async ({ signal }): Promise<Page<Experiment>> => {
      const state = search.archived ? 'STORAGESTATE_ARCHIVED' : 'STORAGESTATE_AVAILABLE';
      const filter: Predicate[] = [...named(search.q), { op: 'EQUALS', key: 'storage_state', string_value: state }];
      const query = listQuery(search, newestFirst, filter);
      const answer = await data(api.GET('/apis/v1beta1/experiments', { params: { query }, signal }));
      return {
        items: (answer.experiments ?? []) as Experiment[],
        total: answer.total_size ?? 0,
        next: answer.next_page_token ?? '',
      };
    },
  });

export const experimentQuery = (id: string) =>
  queryOptions({
    queryKey: ['experiment', id],
    queryFn: async ({ signal }) =>
      (await data(api.GET('/apis/v1beta1/experiments/{id}', { params: { path: { id } }, signal }))) as Experiment,
  });

export async function createExperiment(name: string, description: string): Promise<Experiment> {
  const body = { name, description: description || undefined };
  return (await data(api.POST('/apis/v1beta1/experiments', { body }))) as Experiment;
}

/** Archives an experiment with its runs, and pauses its schedules. */
export const archiveExperiment = (id: string) =>
  data(api.POST('/apis/v1beta1/experiments/{id}:archive', { params: { path: { id } } }));

/** Takes an experiment out of the archive; its runs and schedules stay as they are. */
export const unarchiveExperiment = (id: string) =>
  data(api.POST('/apis/v1beta1/experiments/{id}:unarchive', { params: { path: { id } } }));

/** Deletes an experiment; its runs stay. */
export const deleteExperiment = (id: string) =>
  data(api.DELETE('/apis/v1beta1/experiments/{id}', { params: { path: { id } } }));

export type DeletedExperiment = Schema['argosy.v1.DeletedExperiment'] & { id: string; name: string };

/** The experiments that were deleted last. */
export const deletedExperimentsQuery = queryOptions({
  queryKey: ['experiments', 'deleted'],
  queryFn: async ({ signal }) => {
    const answer = await data(api.GET('/apis/argosy/v1/experiments:deleted', { signal }));
    return { items: (answer.experiments ?? []) as DeletedExperiment[], total: answer.total_size ?? 0 };
  },
});

/** Brings a deleted experiment back, with the runs and schedules that belonged to it. */
export const restoreExperiment = (id: string) =>
  data(
    api.POST('/apis/argosy/v1/experiments/{experiment}:restore', { params: { path: { experiment: id } }, body: {} }),
  );
