import { describe, expect, it } from '@jest/globals';
import { healthOf } from './provider-health';
import type { EndpointFacts } from './providers';

const endpoint = (facts: Partial<EndpointFacts>): EndpointFacts =>
  ({ state: 'serving', latency_last_30m: null, last_failure: null, ...facts }) as EndpointFacts;
const failureAt = (at: string) => ({ at, class: 'unavailable', status: 503 });
const median = (p50: number) => ({ p50, p75: p50, p90: p50, p99: p50 });

describe('the health of a provider', () => {
  it('is unknown without an endpoint, and unconfigured when none has a credential', () => {
    expect(healthOf([]).setup).toBe('unknown');
    expect(healthOf([endpoint({ state: 'unconfigured' })]).setup).toBe('unconfigured');
  });

  it('counts open circuits and has the newest failure and the range of medians', () => {
    const endpoints = [
      endpoint({ latency_last_30m: median(40), last_failure: failureAt('2026-11-18T10:00:00Z') }),
      endpoint({
        state: 'open',
        latency_last_30m: median(900),
        last_failure: failureAt('2026-11-18T11:00:00Z'),
      }),
      endpoint({ state: 'unconfigured' }),
    ];
    expect(healthOf(endpoints)).toEqual({
      setup: 'configured',
      endpoints: 2,
      open: 1,
      lastFailure: failureAt('2026-11-18T11:00:00Z'),
      latency: [40, 900],
    });
  });
});
