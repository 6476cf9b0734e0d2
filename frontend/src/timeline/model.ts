import type { RunNode } from '../api/client';
import type { NodeLog } from '../api/runs';
import { runSteps, type Step } from '../graph/model';
import { hasRun, isFinal } from '../status/status';
import type { Pull } from './pulls';

/** A stretch of time, in milliseconds since 1970. */
export interface Span {
  kind: 'waiting' | 'pulling' | 'running' | 'earlier';
  from: number;
  to: number;
  /** Of the run, from 1. */
  attempt: number;
}

export interface Row {
  step: Step;
  spans: Span[];
  /** Whether the run would have ended earlier with a quicker step here. */
  critical: boolean;
}

export interface Timeline {
  rows: Row[];
  from: number;
  to: number;
}

/** When which step waited, pulled images and ran. What goes on is drawn up to now. */
export function timelineOf(nodes: RunNode[], logs: NodeLog[], now: number, pulls: Pull[] = []): Timeline {
  const { steps, edges } = runSteps(nodes);
  const pods = new Set(nodes.filter((node) => node.type === 'Pod').map((node) => node.id));
  const byNode = new Map<string, NodeLog[]>();
  for (const log of logs) byNode.set(log.node_id ?? '', [...(byNode.get(log.node_id ?? '') ?? []), log]);
  const shown = steps.filter((step) => pods.has(step.id));
  const critical = criticalPath(steps, edges, now);
  const rows = shown.map(
    (step): Row => ({
      step,
      spans: withPulls(
        spansOf(step, byNode.get(step.id) ?? [], now),
        pulls.filter(({ nodeID }) => nodeID === step.id),
      ),
      critical: critical.has(step.id),
    }),
  );
  rows.sort((a, b) => (a.spans[0]?.from ?? Number.POSITIVE_INFINITY) - (b.spans[0]?.from ?? Number.POSITIVE_INFINITY));
  const spans = rows.flatMap((row) => row.spans);
  return {
    rows,
    from: spans.reduce((least, span) => Math.min(least, span.from), now),
    to: spans.reduce((most, span) => Math.max(most, span.to), spans.length > 0 ? 0 : now),
  };
}

function spansOf(step: Step, logs: NodeLog[], now: number): Span[] {
  const main = logs.filter((log) => !log.role && log.container === 'main');
  const newest = Math.max(1, ...main.map((log) => log.attempt ?? 1));
  const earlier = main
    .filter((log) => (log.attempt ?? 1) < newest)
    .map(
      (log): Span => ({
        kind: 'earlier',
        from: time(log.started_at),
        to: time(log.last_at),
        attempt: log.attempt ?? 1,
      }),
    );
  const from = time(step.started);
  if (Number.isNaN(from)) return earlier.filter(valid);
  const to = step.finished ? time(step.finished) : isFinal(step.phase) ? from : now;
  const starts = main.filter((log) => (log.attempt ?? 1) === newest).map((log) => time(log.started_at));
  const began = starts.length > 0 ? Math.min(...starts) : hasRun(step.phase) ? from : to;
  const split = Math.min(Math.max(began, from), to);
  const spans: Span[] = [...earlier, { kind: 'waiting', from, to: split, attempt: newest }];
  if (hasRun(step.phase)) spans.push({ kind: 'running', from: split, to, attempt: newest });
  return spans.filter((span) => valid(span) && (span.kind === 'running' || span.to > span.from));
}

/** The spans of a step with its pulls cut out of the time that it waited. Pods of a job also pull while the step runs: those lie over it. */
function withPulls(spans: Span[], pulls: Pull[]): Span[] {
  const newest = spans.filter(({ kind }) => kind !== 'earlier');
  const [first, last] = [newest[0], newest.at(-1)];
  if (!first || !last || pulls.length === 0) return spans;
  // Events of an attempt before this one may still be there.
  const own = pulls.filter(({ from }) => from >= first.from && from < last.to);
  if (own.length === 0) return spans;
  const from = Math.min(...own.map((pull) => pull.from));
  const to = Math.min(last.to, Math.max(...own.map((pull) => pull.to ?? last.to)));
  const pulling: Span = { kind: 'pulling', from, to, attempt: first.attempt };
  return [...spans.flatMap((span) => (span.kind === 'waiting' ? without(span, pulling) : [span])), pulling];
}

/** What is left of a span beside another. */
const without = (span: Span, cut: Span): Span[] =>
  [
    { ...span, to: Math.min(span.to, cut.from) },
    { ...span, from: Math.max(span.from, cut.to) },
  ].filter(({ from, to }) => to > from);

const valid = ({ from, to }: Span) => !Number.isNaN(from) && !Number.isNaN(to);

const time = (at: string | undefined) => (at ? Date.parse(at) : Number.NaN);

/** The chain of steps that the end of the run waited for: from the last to end back to those that each waited for. */
export function criticalPath(steps: Step[], edges: { from: string; to: string }[], now: number): Set<string> {
  const ends = new Map<string, number>();
  for (const { id, phase, started, finished } of steps) {
    const end = finished ? time(finished) : started && !isFinal(phase) ? now : Number.NaN;
    if (hasRun(phase) && !Number.isNaN(end)) ends.set(id, end);
  }
  const before = new Map<string, string[]>();
  for (const { from, to } of edges) before.set(to, [...(before.get(to) ?? []), from]);
  const path = new Set<string>();
  let at = last([...ends.keys()], ends);
  while (at !== undefined && !path.has(at)) {
    path.add(at);
    at = last(before.get(at) ?? [], ends);
  }
  return path;
}

function last(ids: string[], ends: Map<string, number>): string | undefined {
  let found: string | undefined;
  for (const id of ids) {
    const end = ends.get(id);
    if (end !== undefined && (found === undefined || end > (ends.get(found) as number))) found = id;
  }
  return found;
}
