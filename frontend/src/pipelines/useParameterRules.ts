import { useQuery, useQueryClient } from '@tanstack/react-query';
import { templateQuery } from '../api/pipelines';

/** What a pipeline's manifest says about its parameters, by name; undefined while it is read. */
export function useParameterRules(pipelineID: string | undefined, versionID: string | undefined) {
  const client = useQueryClient();
  const { data, isLoading } = useQuery({
    queryKey: ['pipeline', pipelineID, 'rules', versionID],
    enabled: Boolean(pipelineID && versionID),
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const [manifest, { parameterRules }] = await Promise.all([
        client.fetchQuery(templateQuery(pipelineID as string, versionID)),
        import('./template'),
      ]);
      return parameterRules(manifest);
    },
  });
  return isLoading ? undefined : (data ?? {});
}
