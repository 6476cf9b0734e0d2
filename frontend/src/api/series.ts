import { queryOptions } from '@tanstack/react-query';
import { isFinal } from '../status/status';
import { api, data, type Run, type Schema } from './client';

/** One value of a metric. */
export interface Point {
  step: number;
  /** Seconds since 1970; undefined when the time is not known. */
  at: number | undefined;
  /** Null: it was not a number, or infinite. */
  value: number | null;
}

/** The values of one metric, as one rank of a step printed them. */
export interface Series {
  nodeID: string;
  name: string;
  /** -1 when no rank printed it. */
  rank: number;
  format: string;
  /** How many points the server has. */
  total: number;
  /** Whether points were left out. */
  sampled: boolean;
  points: Point[];
}

/** A part of curves: from one step to another, or from one time to another, in seconds since 1970. */
export interface Part {
  by: 'step' | 'time';
  from: number;
  to: number;
}

/** As many points as the server gives at most. */
export const mostPoints = 10_000;

// How often curves are read again while the run goes on, in milliseconds.
const refresh = 3_000;

/** The series of a run, without points. */
export const seriesListQuery = (run: Run) =>
  queryOptions({
    queryKey: ['run', run.id, 'series'],
    queryFn: async ({ signal }) => {
      const path = { run_id: run.id };
      const answer = await data(api.GET('/apis/argosy/v1/runs/{run_id}/metrics', { params: { path }, signal }));
      return (answer.series ?? []).map(seriesOf);
    },
    refetchInterval: isFinal(run.status) ? false : refresh,
  });

/** The series of one metric, or a part of them, with at most so many points each. */
export const seriesQuery = (run: Run, name: string, points: number, part?: Part) =>
  queryOptions({
    queryKey: ['run', run.id, 'series', name, points, part],
    queryFn: ({ signal }) => readSeries(run.id, name, points, signal, part),
    refetchInterval: isFinal(run.status) ? false : refresh,
    // A zoom asks for more points: the coarse curve stays until they come.
    placeholderData: (before) => (before?.[0]?.name === name ? before : undefined),
  });

/** Reads the series of one metric, or a part of them. */
export async function readSeries(
  runID: string,
  name: string,
  points: number,
  signal?: AbortSignal,
  part?: Part,
): Promise<Series[]> {
  const params = { path: { run_id: runID, name }, query: { points, ...limitsOf(part) } };
  const answer = await data(api.GET('/apis/argosy/v1/runs/{run_id}/metrics/{name}/series', { params, signal }));
  return (answer.series ?? []).map(seriesOf);
}

function limitsOf(part: Part | undefined) {
  if (!part) return {};
  if (part.by === 'step') return { from_step: String(Math.floor(part.from)), to_step: String(Math.ceil(part.to)) };
  const time = (at: number) => new Date(at * 1000).toISOString();
  return { from_time: time(part.from), to_time: time(part.to) };
}

function seriesOf(series: Schema['argosy.v1.Series']): Series {
  return {
    nodeID: series.node_id ?? '',
    name: series.name ?? '',
    rank: series.rank ?? 0,
    format: series.format ?? 'RAW',
    total: Number(series.total ?? 0),
    sampled: Boolean(series.sampling) && series.sampling !== 'none',
    points: (series.points ?? []).map(pointOf),
  };
}

function pointOf({ step, printed_at, value }: Schema['argosy.v1.SeriesPoint']): Point {
  const at = printed_at ? Date.parse(printed_at) / 1000 : Number.NaN;
  return { step: Number(step ?? 0), at: Number.isNaN(at) ? undefined : at, value: value ?? null };
}
