import { describe, expect, it } from '@jest/globals';
import type { EndpointReport } from '../routing/endpoint-reports.js';
import { healthOf } from './provider-health.js';

const report = (facts: Partial<EndpointReport>): EndpointReport => ({
  providerName: 'OpenAI',
  state: 'serving',
  uptime: { fiveMinutes: null, halfAnHour: null, day: null },
  latency: null,
  throughput: null,
  lastFailure: null,
  ...facts,
});
const median = (p50: number) => ({ p50, p75: p50, p90: p50, p99: p50 });
const failureAt = (time: string) => ({ at: new Date(time), failureClass: 'unavailable', status: 503 });

describe('the health of a provider', () => {
  it('counts endpoints without a credential as not configured, and leaves out their figures', () => {
    expect(healthOf([])).toMatchObject({ endpoints: 0, configured: 0, open: 0, latency: null });
    expect(healthOf([report({ state: 'unconfigured', latency: median(1) })])).toEqual({
      endpoints: 1,
      configured: 0,
      open: 0,
      latency: null,
      lastFailure: null,
    });
  });

  it('counts open circuits and has the newest failure and the range of medians', () => {
    const older = failureAt('2026-11-18T10:00:00Z');
    const newer = failureAt('2026-11-18T11:00:00Z');
    expect(
      healthOf([
        report({ latency: median(0.04), lastFailure: newer }),
        report({ state: 'out', latency: median(0.9), lastFailure: older }),
        report({ state: 'unconfigured' }),
      ]),
    ).toEqual({ endpoints: 3, configured: 2, open: 1, latency: [0.04, 0.9], lastFailure: newer });
  });
});
