import { describe, expect, it } from 'vitest';
import type { Run } from '../api/client';
import { failedNode, likelyNode, waitingNode } from './focusNode';
import { readRunSearch } from './runSearch';

const run = (status: string, nodes: object[]) => ({ id: 'r', name: 'r', status, nodes }) as Run;
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

describe('readRunSearch', () => {
  it('drops what does not exist or makes no sense', () => {
    const read = readRunSearch({
      tab: 'nonsense',
      panel: 'io',
      node: '',
      x: 'y',
      ranks: '<b>',
      smooth: '7',
      zoom: '9~1',
    });
    expect(Object.entries(read).filter(([, value]) => value !== undefined)).toEqual([['panel', 'io']]);
  });
  it('keeps what the tabs can show', () => {
    const raw = {
      tab: 'metrics',
      x: 'relative',
      ranks: '0,3',
      zoom: '0~1.5',
      smooth: '0.6',
      scale: 'log',
      hide: 'succeeded',
    };
    expect(readRunSearch(raw)).toMatchObject({ ...raw, smooth: 0.6 });
    expect(readRunSearch({ phase: 'Failed', logs: ['a', 'b'] })).toMatchObject({ phase: ['Failed'], logs: ['a', 'b'] });
  });
});
