// One step of a call through its endpoints.
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { TestClock } from '../../../test/support/app/clock.js';
import { createEndpoint, createTarget } from '../../../test/support/routing/endpoints.js';
import { Cancellation } from '../../concurrency/cancellation.js';
import type { AppConfig } from '../../config/app-config.js';
import { CallCredentials } from '../credentials/call-credentials.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import type { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { FallbackCall } from '../routed-call.js';
import type { RoutingMetrics } from '../routing-metrics.js';
import { EndpointFallback } from './endpoint-fallback.js';
import { RemainingEndpoints } from './remaining-endpoints.js';
import { MAX_RETRY_DELAY, RetryPolicy } from './retry-policy.js';

const config = { providerRetries: 1, retryBaseDelay: 0 } as AppConfig;
const fallback = new EndpointFallback(new RetryPolicy(config, { random: () => 0 } as EndpointHealthRegistry));
const [ONE, TWO] = [createTarget(createEndpoint()), createTarget(createEndpoint())];
const FIRST = RemainingEndpoints.of([ONE, TWO]);
const ONLY = RemainingEndpoints.of([ONE]);
const overloaded = new EndpointFailure('overloaded', 503, 'busy');

let credentials: CallCredentials;
let call: FallbackCall;
beforeEach(() => {
  credentials = new CallCredentials(new CredentialCircuits(new TestClock(), {} as RoutingMetrics), 'account');
  call = {
    deadline: Infinity,
    ending: new Cancellation(),
    credentials,
    hasRetried: false,
    maxRetryDelay: MAX_RETRY_DELAY,
  };
});

const failing = (failure: unknown) => jest.fn(() => Promise.reject(failure));

describe('a step', () => {
  it('returns the answer of the present endpoint', async () => {
    expect(await fallback.step(FIRST, call, () => Promise.resolve('answer'))).toEqual({ answer: 'answer' });
    expect(call.hasRetried).toBe(false);
  });

  it('leaves a failure to the next endpoint at once', async () => {
    const attempt = failing(overloaded);
    expect(await fallback.step(FIRST, call, attempt)).toMatchObject({ remaining: { target: TWO } });
    expect(attempt).toHaveBeenCalledTimes(1);
    expect(call.hasRetried).toBe(true);
  });

  it('counts no retry after an endpoint that received no request', async () => {
    await fallback.step(FIRST, call, failing(new EndpointFailure('saturated', null, 'busy')));
    expect(call.hasRetried).toBe(false);
  });

  it('repeats at the last endpoint, and ends with the error of the caller', async () => {
    const attempt = failing(overloaded);
    await expect(fallback.step(ONLY, call, attempt)).rejects.toMatchObject({ code: 'provider_overloaded' });
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it('tries no endpoint whose credential may not be used', async () => {
    jest.spyOn(credentials, 'mayUse').mockReturnValue(false);
    const attempt = failing(overloaded);
    expect(await fallback.step(FIRST, call, attempt)).toMatchObject({ remaining: { target: TWO } });
    expect(attempt).not.toHaveBeenCalled();
  });

  it('fails with a time-out after the deadline', async () => {
    const late = { ...call, deadline: performance.now() };
    const step = fallback.step(FIRST, late, failing(overloaded));
    await expect(step).rejects.toMatchObject({ code: 'operation_timeout', cause: overloaded });
  });

  it('tries no other endpoint once the call is ending', async () => {
    const attempt = jest.fn(() => {
      call.ending.abort();
      return Promise.reject(overloaded);
    });
    await expect(fallback.step(FIRST, call, attempt)).rejects.toBe(overloaded);
    await expect(fallback.step(FIRST, call, attempt)).rejects.toBe(call.ending.reason);
    expect(attempt).toHaveBeenCalledTimes(1);
  });

  it('passes on an error that is no failure of the endpoint', async () => {
    const defect = new Error('a defect');
    await expect(fallback.step(FIRST, call, failing(defect))).rejects.toBe(defect);
  });
});
