import { describe, expect, it } from 'vitest';
import type { Run } from '../api/client';
import { failedNode, likelyNode, measuredNode, waitingNode } from './focusNode';
import { readRunSearch } from './runSearch';

const run = (status: string, nodes: object[], metrics: object[] = []) =>
  ({ id: 'r', name: 'r', status, nodes, metrics }) as Run;
const pod = (id: string, phase: string, finished_at = '') => ({ id, name: id, type: 'Pod', phase, finished_at });

describe('failedNode', () => {
  it('is the pod that failed first, not the graph that failed with it', () => {
    const failed = run('Failed', [
      { id: 'root', type: 'DAG', phase: 'Failed' },
      pod('late', 'Failed', '2026-01-01T00:00:09Z'),
      pod('early', 'Error', '2026-01-01T00:00:01Z'),
    ]);
    expect(failedNode(failed)?.id).toBe('early');
    expect(likelyNode(failed)?.id).toBe('early');
  });
});

describe('likelyNode', () => {
  it('is the only step', () => expect(likelyNode(run('Running', [pod('a', 'Running')]))?.id).toBe('a'));
  it('is none of several', () => {
    expect(likelyNode(run('Succeeded', [pod('a', 'Succeeded'), pod('b', 'Succeeded')]))).toBeUndefined();
  });
});

describe('waitingNode', () => {
  const waits = (id: string, waiting: string) => ({ ...pod(id, 'Pending'), waiting });
  it('is what all that is left waits for', () => {
    expect(waitingNode(run('Running', [pod('a', 'Succeeded'), waits('b', 'room'), waits('c', 'room')]))?.id).toBe('b');
  });
  it('is none while something runs, when steps wait for several things, or when the run is over', () => {
    expect(waitingNode(run('Running', [pod('a', 'Running'), waits('b', 'room')]))).toBeUndefined();
    expect(waitingNode(run('Running', [waits('a', 'a secret'), waits('b', 'room')]))).toBeUndefined();
    expect(waitingNode(run('Failed', [waits('b', 'room')]))).toBeUndefined();
    expect(waitingNode(run('Running', [pod('a', 'Pending')]))).toBeUndefined();
  });
});

describe('measuredNode', () => {
  it('prefers the step with a metric to the one that runs', () => {
    const nodes = [pod('a', 'Running'), pod('b', 'Succeeded')];
    expect(measuredNode(run('Running', nodes), undefined)?.id).toBe('a');
    expect(measuredNode(run('Running', nodes, [{ node_id: 'b' }]), undefined)?.id).toBe('b');
  });
});

describe('readRunSearch', () => {
  it('drops tabs that do not exist', () => {
    expect(readRunSearch({ tab: 'nonsense', panel: 'io', node: '' })).toEqual({
      tab: undefined,
      panel: 'io',
      node: undefined,
    });
  });
});
