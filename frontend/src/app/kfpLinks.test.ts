import { expect, it } from 'vitest';
import { kfpTarget } from './kfpLinks';

it.each([
  ['#/runs/details/abc-1', '/runs/abc-1'],
  ['/experiments/details/e?x=y', '/experiments/e'],
  ['#/pipelines/details/p/version/v', '/pipelines/p'],
  ['#/pipelines', undefined],
  ['', undefined],
])('%s leads to %s', (hash, path) => expect(kfpTarget(hash)).toBe(path));
