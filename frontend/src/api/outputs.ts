import { queryOptions } from '@tanstack/react-query';
import { isFinal } from '../status/status';
import { api, data, type Run, type Schema } from './client';

export type Visual = Schema['argosy.v1.Visual'];

// How often it is asked again what there is while the run goes on, in milliseconds.
const refresh = 5_000;

/** What the steps of a run left to look at, without its content. */
export const visualsQuery = (run: Run) =>
  queryOptions({
    queryKey: ['run', run.id, 'visuals'],
    queryFn: ({ signal }) => readVisuals(run.id, undefined, signal),
    refetchInterval: isFinal(run.status) ? false : refresh,
  });

/** What one step left, whole. The count is part of the key: more means that it must be read again. */
export const nodeVisualsQuery = (run: Run, nodeID: string, count: number) =>
  queryOptions({
    queryKey: ['run', run.id, 'visuals', nodeID, count],
    queryFn: ({ signal }) => readVisuals(run.id, nodeID, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

async function readVisuals(runID: string, nodeID: string | undefined, signal: AbortSignal): Promise<Visual[]> {
  const params = { path: { run_id: runID }, query: { node_id: nodeID } };
  return (await data(api.GET('/apis/argosy/v1/runs/{run_id}/visuals', { params, signal }))).visuals ?? [];
}

/** Where an artifact is downloaded as it lies in the store, whatever its size: the browser takes it as it comes. */
export function artifactURL(runID: string, nodeID: string, name: string): string {
  const [run, node, artifact] = [runID, nodeID, name].map(encodeURIComponent);
  return `/apis/argosy/v1/runs/${run}/nodes/${node}/artifacts/${artifact}:download`;
}

/** An artifact as it lies in the store, which for most is a .tar.gz. */
export const artifactQuery = (runID: string, nodeID: string, name: string) =>
  queryOptions({
    queryKey: ['run', runID, 'artifact', nodeID, name],
    queryFn: async ({ signal }) => {
      const path = { run_id: runID, node_id: nodeID, artifact_name: name };
      const { data: text = '' } = await data(
        api.GET('/apis/v1beta1/runs/{run_id}/nodes/{node_id}/artifacts/{artifact_name}:read', {
          params: { path },
          signal,
        }),
      );
      return bytesOf(text);
    },
    // An artifact does not change, and may be large: it is kept only while it is shown.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
