import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { LATENCY_BOUNDS, LATENCY_BUCKETS, percentileOf } from './latency-histogram.js';
import type { LatencyCount } from './latency-histogram.js';

const MAX_ERROR = 0.091;

function countsOf(latencies: readonly number[]): LatencyCount[] {
  return latencies.map((latency) => {
    const bucket = LATENCY_BOUNDS.findIndex((bound) => latency < bound);
    return { bucket: bucket === -1 ? LATENCY_BUCKETS - 1 : bucket, requests: 1 };
  });
}

/** As PostgreSQL's percentile_cont. */
function exactPercentile(latencies: readonly number[], share: number): number {
  const sorted = latencies.toSorted((one, other) => one - other);
  const rank = share * (sorted.length - 1);
  const [below = NaN, above = NaN] = [sorted[Math.floor(rank)], sorted[Math.ceil(rank)]];
  return below + (above - below) * (rank - Math.floor(rank));
}

describe('percentiles of counts', () => {
  const shares = fc.constantFrom(0.5, 0.9, 0.95, 0.99);

  it('differ from those of the calls by at most 9.1 %', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: LATENCY_BOUNDS.at(-1)! - 1 }), { minLength: 1, maxLength: 200 }),
        shares,
        (latencies, share) => {
          const exact = exactPercentile(latencies, share);
          const estimate = percentileOf(countsOf(latencies), share);
          expect(Math.abs(estimate! - exact)).toBeLessThanOrEqual(MAX_ERROR * exact + 1e-9);
        },
      ),
    );
  });

  it('are exact below 8 milliseconds', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 7 }), { minLength: 1 }), shares, (latencies, share) => {
        expect(percentileOf(countsOf(latencies), share)).toBeCloseTo(exactPercentile(latencies, share), 9);
      }),
    );
  });

  it('are the beginning of the last bucket above it, and null without a call', () => {
    expect(percentileOf(countsOf([900_000]), 0.5)).toBe(262_144);
    expect(percentileOf([], 0.5)).toBeNull();
  });
});
