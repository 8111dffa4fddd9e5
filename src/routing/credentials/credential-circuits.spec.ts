// When a rejected credential rests, for how long, and for which accounts.
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TestClock } from '../../../test/support/app/clock.js';
import {
  createEndpoint,
  createOwnCredential,
  createTarget,
} from '../../../test/support/routing/endpoints.js';
import { CredentialCircuits } from './credential-circuits.js';
import type { EndpointTarget } from '../endpoint-target.js';
import type { RoutingMetrics } from '../routing-metrics.js';

const SECOND = 1_000;
const ONE = createEndpoint({ upstreamModel: 'one' });
const OTHER = createEndpoint({ upstreamModel: 'other' });

let clock: TestClock;
let circuits: CredentialCircuits;
let counted: (string | null)[];
beforeEach(() => {
  jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  clock = new TestClock();
  counted = [];
  const metrics: Pick<RoutingMetrics, 'credentialRejected'> = {
    credentialRejected: ({ credential }) => void counted.push(credential?.id ?? null),
  };
  circuits = new CredentialCircuits(clock, metrics as RoutingMetrics);
});

const shared = (endpoint = ONE): EndpointTarget => createTarget(endpoint);
const own = (position: number, endpoint = ONE, version = 0): EndpointTarget =>
  createTarget(endpoint, createOwnCredential(position, { version }));
const reject = (target: EndpointTarget, status: number | null): void => {
  const circuit = status === 403 ? 'credential_here' : 'credential';
  circuits.rejected(target, 'a', { failureClass: 'credential', circuit, status });
};
const restOf = (target: EndpointTarget, accountId = 'a'): number => circuits.restOf(target, accountId);

describe('a rejected credential', () => {
  it('rests at every endpoint of its provider, without affecting other credentials', () => {
    reject(own(1), 401);
    expect([own(1), own(1, OTHER), own(2), shared()].map((target) => restOf(target))).toEqual([5, 5, 0, 0]);
    expect(circuits.tryUse(own(1, OTHER), 'a')).toBe(false);
    expect(circuits.tryUse(shared(), 'a')).toBe(true);
  });

  it('of the operator rests for every account, without affecting own keys', () => {
    reject(shared(), 402);
    expect([restOf(shared(), 'a'), restOf(shared(), 'b'), circuits.restOf(shared(), null)]).toEqual([
      5, 5, 5,
    ]);
    expect(restOf(own(1))).toBe(0);
  });

  it('rests twice as long after every further rejection, up to a minute, and closes after a success', () => {
    for (const rest of [5, 10, 20, 40, 60, 60]) {
      reject(own(1), null);
      expect(restOf(own(1))).toBe(rest);
      clock.advance(rest * SECOND - 1);
      expect(circuits.tryUse(own(1), 'a')).toBe(false);
      clock.advance(1);
      expect(circuits.tryUse(own(1), 'a')).toBe(true);
    }
    circuits.served(own(1), 'a');
    expect(circuits.areClosed).toBe(true);
    reject(own(1), 401);
    expect(restOf(own(1))).toBe(5);
  });

  it('rests no longer when requests were in flight at its rejection, and counts once', () => {
    for (let request = 0; request < 8; request++) reject(own(1), 401);
    expect(restOf(own(1))).toBe(5);
    expect(counted).toEqual(['credential-1']);
  });

  it('is probed by one call after its rest; the others wait for the outcome, within a bound', () => {
    reject(own(1), 401);
    clock.advance(5 * SECOND);
    expect([1, 2, 3].map(() => circuits.tryUse(own(1), 'a'))).toEqual([true, false, false]);
    clock.advance(5 * SECOND);
    expect(circuits.tryUse(own(1), 'a')).toBe(true);
    circuits.served(own(1), 'a');
    expect([1, 2, 3].map(() => circuits.tryUse(own(1), 'a'))).toEqual([true, true, true]);
  });

  it('may be probed by the next call when the probe failed for another reason', () => {
    reject(own(1), 401);
    clock.advance(5 * SECOND);
    expect(circuits.tryUse(own(1), 'a')).toBe(true);
    circuits.probeFailed(own(1), 'a');
    expect([1, 2].map(() => circuits.tryUse(own(1), 'a'))).toEqual([true, false]);
  });

  it('is used at once after a change', () => {
    reject(own(1, ONE, 1), 401);
    expect([restOf(own(1, ONE, 1)), restOf(own(1, ONE, 2))]).toEqual([5, 0]);
  });

  it('is used at once when the clock is set back', () => {
    reject(own(1), 401);
    clock.advance(-3_600 * SECOND);
    expect(circuits.tryUse(own(1), 'a')).toBe(true);
  });
});

describe('a rejection with 403', () => {
  it('opens the circuit of one endpoint; the credential serves others', () => {
    reject(own(1), 403);
    expect([restOf(own(1)), restOf(own(1, OTHER))]).toEqual([5, 0]);
  });

  it("of the operator's credential rests for that account alone, and opens no circuit for others", () => {
    reject(shared(), 403);
    expect([restOf(shared(), 'a'), restOf(shared(), 'b'), circuits.restOf(shared(), null)]).toEqual([
      5, 0, 0,
    ]);
  });
});

it('bounds the number of circuits', () => {
  for (let position = 0; position < 20_100; position++) reject(own(position), 401);
  expect([restOf(own(0)), restOf(own(20_099))]).toEqual([0, 5]);
});
