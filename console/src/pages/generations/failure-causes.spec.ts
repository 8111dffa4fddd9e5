import { describe, expect, it } from '@jest/globals';
import { causeOf } from './failure-causes';

type Failed = Parameters<typeof causeOf>[0];

/** `answers`: the statuses of the attempts. */
const causeFor = (failed: Partial<Failed>, ...answers: readonly (number | null)[]) =>
  causeOf(
    { status: 400, error_type: null, provider_name: answers.length > 0 ? 'OpenAI' : null, ...failed },
    answers.map((status) => ({ status }) as NonNullable<Parameters<typeof causeOf>[1]>[number]),
  ).cause;

describe('the cause of a failed call', () => {
  it('is named by the type of the error', () => {
    const tooLong = 'The prompt is longer than the model takes.';
    expect(causeFor({ error_type: 'context_length_exceeded' })).toBe(tooLong);
    expect(causeFor({ error_type: 'context_length_exceeded' }, 400)).toBe(tooLong);
    expect(causeFor({ status: 429, error_type: 'rate_limit_exceeded' }, 429)).toBe(
      'The provider limits the rate of calls.',
    );
  });

  it('is the provider only when one was called', () => {
    expect(causeFor({ error_type: 'invalid_request' })).toMatch(/^A member of the request is wrong/);
    expect(causeFor({ error_type: 'invalid_request' }, 400)).toBe('OpenAI refused the request.');
  });

  it.each([
    [401, 'OpenAI refused its key.'],
    [500, 'OpenAI failed with status 500.'],
    [null, 'OpenAI could not be reached, or broke off its answer.'],
    [200, 'OpenAI gave an answer that cannot be used.'],
    [402, 'The account at OpenAI has no money.'],
  ])('is that of the last attempt when the provider is at fault (%s)', (status, cause) => {
    expect(causeFor({ status: 502, error_type: 'provider_unavailable' }, 500, status)).toBe(cause);
  });

  it('distinguishes a slow provider from a short deadline', () => {
    expect(causeFor({ status: 524, error_type: 'timeout' }, null)).toBe('OpenAI did not answer in time.');
    expect(causeFor({ status: 408, error_type: 'timeout' }, null)).toBe('The call ran past its deadline.');
  });

  it('names a status that it does not know', () => {
    expect(causeFor({ status: 418 })).toBe('The call failed with status 418.');
  });
});
