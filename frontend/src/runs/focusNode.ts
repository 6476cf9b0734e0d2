import type { Run, RunNode } from '../api/client';
import { isFailure, isFinal } from '../status/status';

/** Whether a node is a step that runs something and so has a log. */
export const runsSomething = (node: RunNode) => node.type === 'Pod';

/** The step that made the run fail: the first pod that failed, else whatever else did. */
export function failedNode(run: Run): RunNode | undefined {
  const failed = ((run.nodes ?? []) as RunNode[]).filter((node) => isFailure(node.phase));
  const pods = failed.filter(runsSomething).sort((a, b) => (a.finished_at ?? '').localeCompare(b.finished_at ?? ''));
  return pods[0] ?? failed[0];
}

/** The step that a reader most likely wants to see when the page opens: what failed, or the only one. */
export function likelyNode(run: Run): RunNode | undefined {
  if (isFailure(run.status)) return failedNode(run);
  const pods = ((run.nodes ?? []) as RunNode[]).filter(runsSomething);
  return pods.length === 1 ? pods[0] : undefined;
}

/** The step that says what the whole run waits for: nothing runs, and all that wait do so for the same. */
export function waitingNode(run: Run): RunNode | undefined {
  const pods = ((run.nodes ?? []) as RunNode[]).filter(runsSomething);
  if (isFinal(run.status) || pods.some((node) => node.phase === 'Running')) return undefined;
  const waiting = pods.filter((node) => node.waiting);
  return new Set(waiting.map((node) => node.waiting)).size === 1 ? waiting[0] : undefined;
}
