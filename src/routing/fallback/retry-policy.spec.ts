// Repeats at one endpoint.
import { describe, expect, it, jest } from '@jest/globals';
import { Cancellation } from '../../concurrency/cancellation.js';
import type { AppConfig } from '../../config/app-config.js';
import type { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { FailureClass } from '../failures/failure-classes.js';
import { MAX_RETRY_DELAY, RetryPolicy } from './retry-policy.js';
import type { RepeatedCall } from './retry-policy.js';

const RETRIES = 3;

function createPolicy(retryBaseDelay = 0): RetryPolicy {
  const config = { providerRetries: RETRIES, retryBaseDelay } as AppConfig;
  return new RetryPolicy(config, { random: () => 1 } as EndpointHealthRegistry);
}

function createCall(overrides: Partial<RepeatedCall> = {}): RepeatedCall {
  return {
    deadline: performance.now() + 60_000,
    ending: new Cancellation(),
    hasRetried: false,
    maxRetryDelay: MAX_RETRY_DELAY,
    ...overrides,
  };
}

const failed = (failureClass: FailureClass, retryAfter: number | null = null): EndpointFailure =>
  new EndpointFailure(failureClass, 503, failureClass, { retryAfter });

/** Fails always. Returns how often the request was sent. */
async function countSent(
  failure: unknown,
  call = createCall(),
  policy = createPolicy(),
  onSent: () => void = () => undefined,
): Promise<number> {
  const send = jest.fn(() => {
    onSent();
    return Promise.reject(failure);
  });
  await expect(policy.repeat(call, send)).rejects.toBe(failure);
  return send.mock.calls.length;
}

describe('a request', () => {
  it.each<[FailureClass, number]>([
    ['overloaded', 1 + RETRIES],
    ['broken', 2],
    ['timeout', 1],
    ['refused', 1],
  ])('failing as %s is sent %d times', async (failureClass, count) => {
    const call = createCall();
    expect(await countSent(failed(failureClass), call)).toBe(count);
    expect(call.hasRetried).toBe(count > 1);
  });

  it('returns the first answer', async () => {
    const send = jest.fn<() => Promise<string>>().mockResolvedValue('answer');
    send.mockRejectedValueOnce(failed('overloaded'));
    expect(await createPolicy().repeat(createCall(), send)).toBe('answer');
    expect(send).toHaveBeenCalledTimes(2);
  });

  it('is not repeated after an error that is no failure of the endpoint', async () => {
    expect(await countSent(new Error('a defect'))).toBe(1);
  });

  it('is not repeated when its operation forbids it', async () => {
    expect(await countSent(failed('overloaded'), createCall({ isRepeatable: () => false }))).toBe(1);
  });

  it('is not repeated after a delay beyond the maximum, or beyond the deadline', async () => {
    expect(await countSent(failed('rate_limited', 6))).toBe(1);
    const deadline = performance.now() + 900;
    expect(
      await countSent(failed('rate_limited', 1), createCall({ deadline, maxRetryDelay: Infinity })),
    ).toBe(1);
    expect(await countSent(failed('overloaded'), createCall(), createPolicy(MAX_RETRY_DELAY + 1))).toBe(1);
  });

  it('is not repeated once its call is ending, before the delay or during it', async () => {
    const ended = createCall();
    ended.ending.abort();
    expect(await countSent(failed('overloaded'), ended)).toBe(1);
    const ending = createCall();
    const abortLater = (): void => void setTimeout(() => ending.ending.abort(), 5);
    expect(await countSent(failed('overloaded', 4), ending, createPolicy(), abortLater)).toBe(1);
  });

  it('waits for the delay that the provider names', async () => {
    jest.useFakeTimers();
    try {
      const send = jest.fn<() => Promise<string>>().mockResolvedValue('answer');
      send.mockRejectedValueOnce(failed('rate_limited', 2));
      const answer = createPolicy().repeat(createCall({ deadline: Infinity }), send);
      await jest.advanceTimersByTimeAsync(1_999);
      expect(send).toHaveBeenCalledTimes(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(await answer).toBe('answer');
    } finally {
      jest.useRealTimers();
    }
  });
});
