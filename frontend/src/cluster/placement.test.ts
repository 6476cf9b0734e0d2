import { expect, it } from 'vitest';
import type { Worker } from '../api/cluster';
import { placesOf } from './placement';

const at = (role: string, index: number, node: string): Worker => ({ role, index, node });
const shown = (workers: Worker[]) =>
  placesOf(workers).map(({ node, workers: there }) => [node, ...there.map((w) => `${w.role} ${w.index}`)]);

it('shows which roles share a node', () => {
  expect(shown([at('worker', 1, 'n2'), at('ps', 0, 'n10'), at('worker', 0, 'n2')])).toEqual([
    ['n2', 'worker 0', 'worker 1'],
    ['n10', 'ps 0'],
  ]);
  expect(shown([at('worker', 1, 'n2'), at('worker', 0, 'n1'), at('ps', 0, 'n1')])).toEqual([
    ['n1', 'ps 0', 'worker 0'],
    ['n2', 'worker 1'],
  ]);
  expect(shown([at('worker', 0, '')])).toEqual([]);
});
