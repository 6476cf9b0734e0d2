import { queryOptions } from '@tanstack/react-query';
import { api, data, type Graph, type Page, type Pipeline, type PipelineVersion, postFile } from './client';
import { type ListSearch, listQuery, named } from './list';

export const newestFirst = { sort: 'created_at', dir: 'desc' } as const;

export const pipelinesQuery = (search: ListSearch) =>
  queryOptions({
    queryKey: ['pipelines', search],
    queryFn: async ({ signal }): Promise<Page<Pipeline>> => {
      const query = listQuery(search, newestFirst, named(search.q));
      const answer = await data(api.GET('/apis/v1beta1/pipelines', { params: { query }, signal }));
      return {
        items: (answer.pipelines ?? []) as Pipeline[],
        total: answer.total_size ?? 0,
        next: answer.next_page_token ?? '',
      };
    },
  });

export const pipelineQuery = (id: string) =>
  queryOptions({
    queryKey: ['pipeline', id],
    queryFn: async ({ signal }) =>
      (await data(api.GET('/apis/v1beta1/pipelines/{id}', { params: { path: { id } }, signal }))) as Pipeline,
  });

export const versionsQuery = (pipelineID: string) =>
  queryOptions({
    queryKey: ['pipeline', pipelineID, 'versions'],
    queryFn: async ({ signal }): Promise<Page<PipelineVersion>> => {
      const query = {
        'resource_key.type': 'PIPELINE',
        'resource_key.id': pipelineID,
        page_size: 200,
        sort_by: 'created_at desc',
      } as const;
      const answer = await data(api.GET('/apis/v1beta1/pipeline_versions', { params: { query }, signal }));
      return {
        items: (answer.versions ?? []) as PipelineVersion[],
        total: answer.total_size ?? 0,
        next: answer.next_page_token ?? '',
      };
    },
  });

export const versionQuery = (id: string) =>
  queryOptions({
    queryKey: ['version', id],
    queryFn: async ({ signal }) =>
      (await data(
        api.GET('/apis/v1beta1/pipeline_versions/{version_id}', { params: { path: { version_id: id } }, signal }),
      )) as PipelineVersion,
  });

/** The pipeline that a version belongs to. */
export const pipelineOf = (version: PipelineVersion | undefined) =>
  version?.resource_references?.find(({ key }) => key?.type === 'PIPELINE')?.key?.id;

/** What two versions do differently; nothing when they do the same. */
export const diffQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: ['diff', from, to],
    enabled: from !== '' && to !== '',
    queryFn: async ({ signal }) =>
      (await data(api.GET('/apis/argosy/v1/pipeline_versions:diff', { params: { query: { from, to } }, signal })))
        .changes ?? [],
  });

/** The graph of a version, or of the default version. */
export const graphQuery = (pipelineID: string, versionID?: string) =>
  queryOptions({
    queryKey: ['pipeline', pipelineID, 'graph', versionID],
    queryFn: ({ signal }): Promise<Graph> =>
      versionID
        ? data(
            api.GET('/apis/argosy/v1/pipeline_versions/{version_id}/graph', {
              params: { path: { version_id: versionID } },
              signal,
            }),
          )
        : data(
            api.GET('/apis/argosy/v1/pipelines/{pipeline_id}/graph', {
              params: { path: { pipeline_id: pipelineID } },
              signal,
            }),
          ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const templateQuery = (pipelineID: string, versionID?: string) =>
  queryOptions({
    queryKey: ['pipeline', pipelineID, 'template', versionID],
    queryFn: async ({ signal }) => {
      const answer = versionID
        ? await data(
            api.GET('/apis/v1beta1/pipeline_versions/{version_id}/templates', {
              params: { path: { version_id: versionID } },
              signal,
            }),
          )
        : await data(
            api.GET('/apis/v1beta1/pipelines/{id}/templates', { params: { path: { id: pipelineID } }, signal }),
          );
      return answer.template ?? '';
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

export interface Upload {
  file: File;
  name: string;
  description: string;
  /** Upload as a new version of this pipeline. */
  pipelineID?: string;
}

/** Uploads a package and gives the id of the pipeline that it belongs to. */
export async function upload({ file, name, description, pipelineID }: Upload): Promise<string> {
  const query: Record<string, string> = { name, description };
  if (!description) delete query.description;
  if (pipelineID) {
    await postFile('/apis/v1beta1/pipelines/upload_version', { ...query, pipelineid: pipelineID }, file);
    return pipelineID;
  }
  return (await postFile<Pipeline>('/apis/v1beta1/pipelines/upload', query, file)).id;
}

export const deletePipeline = (id: string) =>
  data(api.DELETE('/apis/v1beta1/pipelines/{id}', { params: { path: { id } } }));

export const setDefaultVersion = (pipelineID: string, versionID: string) =>
  data(
    api.POST('/apis/v1beta1/pipelines/{pipeline_id}/default_version/{version_id}', {
      params: { path: { pipeline_id: pipelineID, version_id: versionID } },
    }),
  );

export const deleteVersion = (id: string) =>
  data(api.DELETE('/apis/v1beta1/pipeline_versions/{version_id}', { params: { path: { version_id: id } } }));
