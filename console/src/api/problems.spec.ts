import { expect, it } from '@jest/globals';
import { ApiError, NetworkError } from './client';
import { readProblems } from './problems';

const problem = (message: string, status = 400) => new ApiError(status, message, 'request-1', {});

it('assigns the problems of a 400 to the members that a form shows', () => {
  const error = problem(
    'Invalid request parameters: name: must not be empty; limit: must be a number; other: no',
  );
  expect(readProblems(error, ['name', 'limit'])).toEqual({
    members: { name: 'Must not be empty', limit: 'Must be a number' },
    general: 'Other: no',
  });
});

it('assigns the problem of an entry to the list that a form shows, by its position', () => {
  const error = problem(
    'Invalid request parameters: models[1]: is no name; rules[0].value: must be a number',
  );
  expect(readProblems(error, ['models', 'rules'])).toEqual({
    members: { models: 'Entry 2 is no name' },
    general: 'Rules[0].value: must be a number',
  });
});

it('keeps messages without a member as they are', () => {
  const conflict = problem('Resource conflict. Please try again later.: too many keys', 409);
  expect(readProblems(conflict, ['name'])).toEqual({ members: {}, general: conflict.message });
  expect(readProblems(new NetworkError(null), [])).toEqual({
    members: {},
    general: 'The service cannot be reached.',
  });
  expect(readProblems(null, ['name'])).toEqual({ members: {}, general: null });
});
