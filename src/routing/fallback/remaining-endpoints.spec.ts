// The next endpoint of a call, and the error without one.
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TestClock } from '../../../test/support/app/clock.js';
import { createEndpoint, createModel } from '../../../test/support/routing/endpoints.js';
import { local } from '../../providers/local.js';
import { CallCredentials } from '../credentials/call-credentials.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import type { EndpointTarget } from '../endpoint-target.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { FailureClass } from '../failures/failure-classes.js';
import type { RoutingMetrics } from '../routing-metrics.js';
import { RemainingEndpoints } from './remaining-endpoints.js';

const MODEL = createModel([]);
const target = (slug: string, model = MODEL): EndpointTarget => ({
  model,
  endpoint: createEndpoint({ provider: slug }),
  provider: { ...local, slug, name: slug },
  credential: null,
});
const [ONE, TWO, THREE] = [target('one'), target('two'), target('three')];

const failed = (failureClass: FailureClass = 'failed', message: string = failureClass, code?: string) =>
  new EndpointFailure(failureClass, 500, message, code === undefined ? {} : { code });

let credentials: CallCredentials;
beforeEach(() => {
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  const metrics: Partial<RoutingMetrics> = { credentialRejected: () => undefined };
  const circuits = new CredentialCircuits(new TestClock(), metrics as RoutingMetrics);
  credentials = new CallCredentials(circuits, 'account');
});

/** The error of the caller when the endpoints fail in this order. */
function errorAfter(targets: readonly EndpointTarget[], failures: readonly EndpointFailure[]): unknown {
  let remaining = RemainingEndpoints.of(targets);
  try {
    for (const failure of failures) remaining = remaining.after(failure, credentials);
  } catch (error) {
    return error;
  }
  return null;
}

describe('the endpoints of a call', () => {
  it('are tried in their order', () => {
    const first = RemainingEndpoints.of([ONE, TWO]);
    expect(first).toMatchObject({ target: ONE, previous: null, isLast: false, mayWait: false });
    const second = first.after(failed(), credentials);
    expect(second).toMatchObject({ target: TWO, previous: ONE, isLast: true, mayWait: true });
    // Another slice of the call is at its own endpoint.
    expect(first.target).toBe(ONE);
  });

  it('end with a failure that another endpoint would repeat', () => {
    expect(errorAfter([ONE, TWO], [failed('refused')])).toMatchObject({ code: 'provider_refused' });
  });

  it('skip one whose credential may not be used', () => {
    expect(RemainingEndpoints.of([ONE, TWO]).skip(credentials)).toMatchObject({ target: TWO, previous: ONE });
  });

  it('end with an error about the credential when each is skipped', () => {
    credentials.noteFailure(failed('credential'), ONE);
    expect(() => RemainingEndpoints.of([ONE]).skip(credentials)).toThrow(
      expect.objectContaining({ code: 'provider_error' }),
    );
  });

  it('end with an earlier failure when the last one is skipped', () => {
    const last = RemainingEndpoints.of([ONE, TWO]).after(failed('timeout'), credentials);
    expect(() => last.skip(credentials)).toThrow(expect.objectContaining({ code: 'provider_timeout' }));
  });

  it('cannot serve when there are none', () => {
    expect(() => RemainingEndpoints.of([]).target).toThrow(expect.objectContaining({ code: 'unavailable' }));
  });
});

describe('an endpoint without a free permit', () => {
  it('is tried again after the others, and waited for', () => {
    const last = RemainingEndpoints.of([ONE, TWO])
      .after(failed('saturated'), credentials)
      .after(failed(), credentials);
    expect(last).toMatchObject({ target: ONE, previous: TWO, isLast: true, mayWait: true });
  });

  it('is waited for before another one that had none either', () => {
    const third = RemainingEndpoints.of([ONE, TWO])
      .after(failed('saturated'), credentials)
      .after(failed('saturated'), credentials);
    expect(third).toMatchObject({ target: ONE, isLast: false, mayWait: true });
  });

  it('explains no failure of the call', () => {
    const failures = [failed('saturated'), failed('unsupported', 'no images'), failed('unsupported', 'none')];
    expect(errorAfter([ONE, TWO], failures)).toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('no images'),
    });
  });
});

describe('the error of the caller', () => {
  it.each<[string, FailureClass, FailureClass, string]>([
    ['the last of two outages', 'timeout', 'overloaded', 'provider_overloaded'],
    [
      'an outage before an endpoint that does not support the request',
      'failed',
      'unsupported',
      'provider_error',
    ],
    ['an outage after one that takes no such length', 'context_length', 'failed', 'provider_error'],
    ['the first of two about the input', 'context_length', 'too_large', 'provider_context_length'],
  ])('is %s', (_name, first, second, code) => {
    expect(errorAfter([ONE, TWO], [failed(first), failed(second)])).toMatchObject({ code });
  });
});

describe('a model past the day of its withdrawal', () => {
  const leaving = { ...createModel([], 'vendor/leaving'), expiresOn: '2020-01-01', successor: 'vendor/next' };
  const [first, second] = [target('one', leaving), target('two', leaving)];

  it('is withdrawn when all of its endpoints are gone', () => {
    expect(errorAfter([first, second], [failed('endpoint'), failed('endpoint')])).toMatchObject({
      status: 404,
      message: expect.stringContaining('vendor/leaving has been withdrawn; successor: vendor/next'),
      headers: { Sunset: 'Wed, 01 Jan 2020 00:00:00 GMT', 'x-should-retry': 'false' },
      payer: 'operator',
    });
  });

  it.each<[string, FailureClass, FailureClass]>([
    ['its first endpoint', 'endpoint', 'failed'],
    ['its last endpoint', 'failed', 'endpoint'],
  ])('is not called withdrawn when only %s is gone', (_name, one, other) => {
    expect(errorAfter([first, second], [failed(one), failed(other)])).toMatchObject({
      code: 'provider_error',
    });
  });

  it('is not called withdrawn before its day', () => {
    const later = target('one', { ...leaving, expiresOn: '2999-01-01' });
    expect(errorAfter([later], [failed('endpoint')])).toMatchObject({ code: 'provider_error' });
  });
});

describe('a refusal by a policy of one model', () => {
  const other = target('other', createModel([], 'vendor/other'));
  const refusal = failed('refused', 'no', 'content_filter');

  it('moves to the next model, and to no other endpoint', () => {
    const next = RemainingEndpoints.of([ONE, TWO, other, THREE]).after(refusal, credentials);
    expect(next.target).toBe(other);
  });

  it('ends the call when no other model is left', () => {
    expect(errorAfter([other, ONE, TWO], [failed(), refusal])).toMatchObject({ code: 'provider_refused' });
  });
});
