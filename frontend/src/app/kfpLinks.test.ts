import { expect, it } from 'vitest';
import { kfpTarget } from './kfpLinks';

it.each([
  ['#/runs/details/abc-1', { to: '/runs/abc-1' }],
  ['/experiments/details/e?x=y', { to: '/experiments/e' }],
  ['#/experiments', { to: '/experiments' }],
  ['#/runs', { to: '/runs' }],
  ['#/pipelines/details/p/version/v', { to: '/pipelines/p', search: { version: 'v' } }],
  ['#/pipelines/details/p?fromRun=r', { to: '/pipelines/p' }],
  ['#/pipelines', { to: '/pipelines' }],
  ['#/recurringrun/details/j', { to: '/schedules/j' }],
  ['#/recurringruns', { to: '/schedules' }],
  ['#/archive/runs', { to: '/runs', search: { archived: 'true' } }],
  ['#/archive', { to: '/runs', search: { archived: 'true' } }],
  ['#/archive/experiments', { to: '/experiments', search: { archived: 'true' } }],
  ['#/compare?runlist=a,b', { to: '/compare', search: { runlist: 'a,b' } }],
  [
    '#/runs/new?pipelineId=p&pipelineVersionId=v&experimentId=e&recurring=1',
    { to: '/runs/new', search: { pipeline: 'p', version: 'v', experiment: 'e', recurring: 'true' } },
  ],
  ['#/executions', { to: '/runs' }],
  ['#L12', undefined],
  ['', undefined],
])('%s leads to %j', (hash, target) => expect(kfpTarget(hash)).toEqual(target));
