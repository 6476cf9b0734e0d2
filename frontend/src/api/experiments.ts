import { queryOptions } from '@tanstack/react-query';
import { api, data, type Experiment, type Page } from './client';
import { type ListSearch, listQuery, named } from './list';
import { newestFirst } from './pipelines';

export const experimentsQuery = (search: ListSearch) =>
  queryOptions({
    queryKey: ['experiments', search],
    queryFn: async ({ signal }): Promise<Page<Experiment>> => {
      const query = listQuery(search, newestFirst, named(search.q));
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
