import { describe, expect, it } from 'vitest';
import { asProblem, Problem, problemOf } from './problem';

describe('problemOf', () => {
  it('reads the errors of RPCs', () => {
    const body = {
      error: 'run x not found',
      message: 'run x not found',
      code: 5,
      details: [{ error_details: 'in store' }],
    };
    const problem = problemOf(404, 'Not Found', JSON.stringify(body));
    expect([problem.message, problem.details, problem.status]).toEqual(['run x not found', 'in store', 404]);
  });

  it('reads the errors of uploads', () => {
    const body = { error_message: 'not a tarball', error_details: 'not a tarball' };
    const problem = problemOf(400, 'Bad Request', JSON.stringify(body));
    expect(problem.message).toBe('not a tarball');
    expect(problem.details).toBe('');
  });

  it.each([
    ['404 page not found\n', '404 page not found'],
    ['', '502 Bad Gateway'],
    ['null', 'null'],
    ['{}', '502 Bad Gateway'],
  ])('shows %j as it came', (body, message) => expect(problemOf(502, 'Bad Gateway', body).message).toBe(message));
});

describe('asProblem', () => {
  it('keeps a problem', () => {
    const problem = new Problem(400, 'no');
    expect(asProblem(problem)).toBe(problem);
    expect(problem.transient).toBe(false);
  });
  it('makes a failed fetch a transient one', () => {
    const problem = asProblem(new TypeError('Failed to fetch'));
    expect([problem.status, problem.transient, problem.message]).toEqual([0, true, 'Failed to fetch']);
  });
});
