import { queryOptions } from '@tanstack/react-query';
import { api, data } from './client';
import type { NodeLog } from './runs';

/** One log of a step: its own, or one of its pods'. */
export interface LogSource {
  runID: string;
  nodeID: string;
  log?: NodeLog;
}

const asked = (source: LogSource | undefined) => ({
  path: { run_id: source?.runID ?? '', node_id: source?.nodeID ?? '' },
  query: source?.log && {
    pod: source.log.pod,
    container: source.log.container,
    attempt: source.log.attempt ?? 1,
  },
});

/** As many places of a text as the server names at once; it counts all. */
export const foundPage = 1000;

/** Where words are in a log: how often in all, and the lines of one page of that. */
export const logSearchQuery = (source: LogSource | undefined, words: string, page: number, ended: boolean) =>
  queryOptions({
    queryKey: ['log-search', source, words, page, ended],
    enabled: source !== undefined && words !== '',
    queryFn: async ({ signal }) => {
      const { path, query } = asked(source);
      const skip = page * foundPage;
      const params = { path, query: { ...query, q: words, skip, most: foundPage } };
      const answer = await data(
        api.GET('/apis/argosy/v1/runs/{run_id}/nodes/{node_id}/log:search', { params, signal }),
      );
      return { words, skip, total: answer.total ?? 0, lines: answer.lines ?? [] };
    },
  });

/** As many lines as are shown of the part of a log that is not held here. */
export const partLines = 1000;

/** Lines around one of them. */
export const logPartQuery = (source: LogSource | undefined, middle: number | undefined) =>
  queryOptions({
    queryKey: ['log-part', source, middle],
    enabled: source !== undefined && middle !== undefined,
    // What was printed does not change.
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const { path, query } = asked(source);
      const params = { path, query: { ...query, around: middle, lines: partLines, format: 'json' as const } };
      const answer = await data(api.GET('/apis/argosy/v1/runs/{run_id}/nodes/{node_id}/log', { params, signal }));
      const { lines = [] } = answer as unknown as { lines?: { n?: number; text?: string }[] };
      return { first: lines[0]?.n ?? 1, lines: lines.map(({ text }) => text ?? '') };
    },
  });
