// An endpoint's health: what counts as an outage, for how long, and percentiles of the last five minutes.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { EndpointHealth } from './endpoint-health.js';

const NOW = 1_000_000;

function healthWith(successes: number, failures: number, now = NOW): EndpointHealth {
  const health = new EndpointHealth();
  for (let call = 0; call < successes; call++) health.recordSuccess(now, 100, 10);
  for (let call = 0; call < failures; call++) health.recordFailure(now);
  return health;
}

describe('an outage', () => {
  it.each([
    [0, 0, false],
    [0, 4, false],
    [0, 5, true],
    [5, 5, true],
    [6, 5, false],
    [1000, 5, false],
    [5, 1000, true],
  ])('with %i successes and %i failures: %p', (successes, failures, isOpen) => {
    expect(healthWith(successes, failures).isOpen(NOW)).toBe(isOpen);
  });

  it('is over when its failures are older than 30 seconds', () => {
    const health = healthWith(0, 50);
    expect(health.isOpen(NOW + 29_000)).toBe(true);
    expect(health.isOpen(NOW + 31_001)).toBe(false);
    expect(health.uptime(NOW + 31_001)).toBeNull();
  });

  it('is probed by one call in five seconds', () => {
    const health = healthWith(0, 50);
    const claims = [0, 1, 4_999, 5_000, 5_001, 10_000].map((later) => health.tryProbe(NOW + later));
    expect(claims).toEqual([true, false, false, true, false, true]);
  });
});

it('uptime is the share of successes', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(200), (successes, failures) => {
      fc.pre(successes + failures > 0);
      const uptime = healthWith(successes, failures).uptime(NOW);
      expect(uptime).toBeCloseTo(successes / (successes + failures), 12);
    }),
  );
});

describe('percentiles', () => {
  it('are null without samples, and forget what is older than five minutes', () => {
    expect(new EndpointHealth().latency(NOW)).toBeNull();
    const health = healthWith(3, 0);
    expect(health.latency(NOW + 300_000)).toEqual({ p50: 0.1, p75: 0.1, p90: 0.1, p99: 0.1 });
    expect(health.latency(NOW + 300_001)).toBeNull();
  });

  it('of latency rise, of throughput fall', () => {
    const health = new EndpointHealth();
    for (let call = 1; call <= 100; call++) health.recordSuccess(NOW, call * 10, 1);
    expect(health.latency(NOW)).toEqual({ p50: 0.51, p75: 0.76, p90: 0.91, p99: 1 });
    const { p50 = 0, p99 = 0 } = health.throughput(NOW) ?? {};
    expect(p50).toBeCloseTo(1 / 0.51, 6);
    expect(p99).toBeCloseTo(1, 6);
  });

  it('of throughput leave out calls without reported tokens', () => {
    const health = new EndpointHealth();
    health.recordSuccess(NOW, 1_000, null);
    expect(health.throughput(NOW)).toBeNull();
    expect(health.latency(NOW)?.p50).toBe(1);
    health.recordSuccess(NOW, 1_000, 10);
    expect(health.throughput(NOW)?.p50).toBe(10);
  });

  it('are samples, in order, whatever was recorded', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 700 }),
        (durations) => {
          const health = new EndpointHealth();
          for (const duration of durations) health.recordSuccess(NOW, duration, 1);
          const seen = health.latency(NOW);
          if (!seen) throw new Error('no samples');
          // The newest 500 are kept.
          const seconds = new Set(durations.slice(-500).map((duration) => Math.max(duration / 1000, 0.001)));
          for (const value of Object.values(seen)) expect(seconds.has(value)).toBe(true);
          expect(seen.p50 <= seen.p75 && seen.p75 <= seen.p90 && seen.p90 <= seen.p99).toBe(true);
        },
      ),
    );
  });
});
