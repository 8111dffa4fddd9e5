import { describe, expect, it } from '@jest/globals';
import { causeOf } from './failure-causes';

const failed = (facts: Partial<Parameters<typeof causeOf>[0]>, attempts = 0) =>
  causeOf({ status: 400, error_type: null, provider_name: null, ...facts }, attempts).cause;

describe('the cause of a failed call', () => {
  it('is named by the class of the error before its status', () => {
    expect(failed({ error_type: 'context_length_exceeded' })).toBe(
      'The prompt is longer than the model takes.',
    );
    expect(failed({ status: 429, error_type: 'rate_limit_exceeded' })).toBe(
      'The provider limits the rate of calls.',
    );
  });

  it('is the provider only when one was called', () => {
    expect(failed({ error_type: 'invalid_request' })).toMatch(/^A member of the request is wrong/);
    expect(failed({ error_type: 'invalid_request', provider_name: 'OpenAI' }, 1)).toBe(
      'OpenAI refused the request.',
    );
  });

  it('names a status that it does not know', () => {
    expect(failed({ status: 418 })).toBe('The call failed with status 418.');
  });
});
