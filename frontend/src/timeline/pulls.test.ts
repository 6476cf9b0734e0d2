import { expect, it } from 'vitest';
import { pullsOf } from './pulls';

const at = (second: number) => new Date(second * 1000).toISOString();
const told = (reason: string, second: number, message = '', rest = {}) => ({
  kind: 'Pod',
  name: 'pod',
  node_id: 'a',
  reason,
  message,
  count: 1,
  first_at: at(second),
  last_at: at(second),
  ...rest,
});

it('takes the time from the first image to the last', () => {
  const events = [
    told('Started', 9),
    told('Pulled', 8, 'Successfully pulled image "b" in 2s'),
    told('Pulling', 6, 'Pulling image "b"'),
    told('Pulled', 5, 'Successfully pulled image "a" in 3s'),
    told('Pulling', 2, 'Pulling image "a"'),
  ];
  expect(pullsOf(events)).toEqual([{ nodeID: 'a', from: 2000, to: 8000 }]);
});

it('leaves out images that the node had, and objects that are no pods', () => {
  expect(pullsOf([told('Pulled', 5, 'Container image "a" already present on machine')])).toEqual([]);
  expect(pullsOf([told('Pulling', 5, '', { kind: 'MPIJob' }), told('Pulling', 5, '', { node_id: '' })])).toEqual([]);
});

it('goes on while an image is pulled, also after a pull that failed', () => {
  const failed = told('Failed', 4, 'Failed to pull image "a": no route', { count: 2 });
  const pulling = told('Pulling', 2, 'Pulling image "a"', { count: 3, last_at: at(6) });
  expect(pullsOf([failed, pulling])).toEqual([{ nodeID: 'a', from: 2000, to: undefined }]);
});

it('ends when the container starts without the image', () => {
  expect(pullsOf([told('Pulling', 2), told('Started', 7)])).toEqual([{ nodeID: 'a', from: 2000, to: 7000 }]);
});
