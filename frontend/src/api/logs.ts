import { queryOptions } from '@tanstack/react-query';
import { api, data } from './client';
import type { NodeLog } from './runs';

/** One log of a step, its own or one of its pods', or several that are read as one; without a step, those of the whole run. */
export interface LogSource {
  runID: string;
  nodeID?: string;
  log?: NodeLog;
  /** Some of them, all, or all of the pods of a distributed job. */
  merged?: NodeLog[] | 'all' | 'ranks';
}

/** Names a log. */
export const logKey = ({ pod, container, attempt }: NodeLog) => `${attempt ?? 1}/${pod}/${container}`;

/** Names a log also among those of a container that was restarted. */
export const lineKey = (log: NodeLog) => (log.restart ? `${logKey(log)}/${log.restart}` : logKey(log));

/** A line of a log: which of several, and its number there. */
export interface Place {
  log?: string;
  line: number;
}

/** What names several logs in a request; all are meant when none is named. */
const named = ({ merged }: Pick<LogSource, 'merged'>) => (Array.isArray(merged) ? merged.map(logKey) : undefined);

/**
 * Where a step's log is read, or several as one. With follow it goes on until the containers end. With tail it begins with so many of the last
 * lines there are now; several are read whole.
 */
export function logURL({ runID, nodeID, log, merged }: LogSource, { follow = false, tail = 0 } = {}): string {
  const step = nodeID === undefined ? '' : `/nodes/${encodeURIComponent(nodeID)}`;
  const path = `/apis/argosy/v1/runs/${encodeURIComponent(runID)}${step}/log`;
  const query = new URLSearchParams();
  if (follow) query.set('follow', 'true');
  if (merged) {
    query.set(...((follow ? ['format', 'json'] : ['timestamps', 'true']) as [string, string]));
    if (merged === 'ranks') query.set('ranks', 'true');
    for (const key of named({ merged }) ?? []) query.append('log', key);
    return `${path}:merge?${query}`;
  }
  if (tail) query.set('tail', String(tail));
  if (log) {
    query.set('pod', log.pod ?? '');
    query.set('container', log.container ?? '');
    query.set('attempt', String(log.attempt ?? 1));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
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

/** Has the server search a log, or several, for words or for what tells of an error. */
async function search(
  source: LogSource | undefined,
  what: { q?: string; errors?: true; skip?: number; most: number },
  signal: AbortSignal,
) {
  const { path, query } = asked(source);
  const merged = source?.merged;
  const several = merged && {
    log: named(source),
    all: merged === 'all' || undefined,
    ranks: merged === 'ranks' || undefined,
  };
  const params = { path, query: { ...query, ...several, ...what } };
  const answer =
    source && source.nodeID === undefined
      ? await data(api.GET('/apis/argosy/v1/runs/{run_id}/log:search', { params, signal }))
      : await data(api.GET('/apis/argosy/v1/runs/{run_id}/nodes/{node_id}/log:search', { params, signal }));
  const logs = Array.isArray(source?.merged) ? source.merged : ((answer.logs ?? []) as NodeLog[]);
  const keys = logs.map(lineKey);
  const places = source?.merged
    ? (answer.places ?? []).map(({ log = 0, line = 0 }): Place => ({ log: keys[log], line }))
    : (answer.lines ?? []).map((line): Place => ({ line }));
  return { total: answer.total ?? 0, places };
}

/** Where words are in a log, or in several: in how many lines in all, and the places of one page of these. */
export const logSearchQuery = (source: LogSource | undefined, words: string, page: number, ended: boolean) =>
  queryOptions({
    queryKey: ['log-search', source, words, page, ended],
    enabled: source !== undefined && words !== '',
    queryFn: async ({ signal }) => {
      const skip = page * foundPage;
      return { words, skip, ...(await search(source, { q: words, skip, most: foundPage }, signal)) };
    },
  });

/** The first line of a log, or of several, that tells of an error. */
export const firstErrorQuery = (source: LogSource) =>
  queryOptions({
    queryKey: ['log-error', source],
    queryFn: async ({ signal }) => (await search(source, { errors: true, most: 1 }, signal)).places[0] ?? null,
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
