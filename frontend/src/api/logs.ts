import { queryOptions } from '@tanstack/react-query';
import { api, data } from './client';
import type { NodeLog } from './runs';

/** One log of a step, its own or one of its pods', or several that are read as one. */
export interface LogSource {
  runID: string;
  nodeID: string;
  log?: NodeLog;
  merged?: NodeLog[];
}

/** Names a log. */
export const logKey = ({ pod, container, attempt }: NodeLog) => `${attempt ?? 1}/${pod}/${container}`;

/** A line of a log: which of several, from 0, and its number there. */
export interface Place {
  log: number;
  line: number;
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

/** Where words are in a log, or in several: in how many lines in all, and the places of one page of these. */
export const logSearchQuery = (source: LogSource | undefined, words: string, page: number, ended: boolean) =>
  queryOptions({
    queryKey: ['log-search', source, words, page, ended],
    enabled: source !== undefined && words !== '',
    queryFn: async ({ signal }) => {
      const { path, query } = asked(source);
      const skip = page * foundPage;
      const params = { path, query: { ...query, log: source?.merged?.map(logKey), q: words, skip, most: foundPage } };
      const answer = await data(
        api.GET('/apis/argosy/v1/runs/{run_id}/nodes/{node_id}/log:search', { params, signal }),
      );
      const places = source?.merged
        ? (answer.places ?? []).map(({ log = 0, line = 0 }): Place => ({ log, line }))
        : (answer.lines ?? []).map((line): Place => ({ log: 0, line }));
      return { words, skip, total: answer.total ?? 0, places };
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
