import { expect, it } from 'vitest';
import { shownIn } from './shownIn';

const shown = (...values: string[]) => ({
  status: [],
  predicates: [{ op: 'IN', key: 'shown_status', string_values: { values } }],
});

it('asks for ends by the status, which is the same', () => {
  expect(shownIn(['Failed', 'Error'])).toEqual({ status: ['Failed', 'Error'], predicates: [] });
  expect(shownIn([])).toEqual({ status: [], predicates: [] });
});

it('asks for what goes on by what is shown, so that running leaves out those that wait', () => {
  expect(shownIn(['Running', 'Terminating'])).toEqual(shown('Running', 'Terminating'));
  expect(shownIn(['Running', 'Failed'])).toEqual(shown('Running', 'Failed'));
});

it('takes accepted runs for pending ones, as lists show them', () => {
  expect(shownIn(['Pending', 'Waiting'])).toEqual(shown('Pending', '', 'Waiting'));
});
