// Latencies in a bounded number of buckets, whose counts can be added up. Percentiles of the counts differ from those of
// the calls by at most 9.1 % (docs/contract.md#activity-and-analytics).

const EXACT_UNTIL = 8;
const BUCKETS_PER_DOUBLING = 4;
const DOUBLINGS = 15;

/**
 * Milliseconds at which the second and each later bucket begins: each whole number up to 8, then four buckets for each
 * doubling up to 262 seconds. Stored counts depend on them: other bounds need other tables.
 */
export const LATENCY_BOUNDS: readonly number[] = [
  ...Array.from({ length: EXACT_UNTIL }, (_bound, index) => index + 1),
  ...Array.from({ length: DOUBLINGS * BUCKETS_PER_DOUBLING }, (_bound, index) =>
    Math.ceil(EXACT_UNTIL * 2 ** ((index + 1) / BUCKETS_PER_DOUBLING)),
  ),
];
export const LATENCY_BUCKETS = LATENCY_BOUNDS.length + 1;

/** The number of calls in a bucket; the first bucket is 0. */
export interface LatencyCount {
  readonly bucket: number;
  readonly requests: number;
}

/** Milliseconds: the geometric mean of the bucket's whole numbers, and the beginning of the last bucket. */
function estimateOf(bucket: number): number {
  const lower = bucket === 0 ? 0 : (LATENCY_BOUNDS[bucket - 1] ?? 0);
  const next = LATENCY_BOUNDS[bucket];
  return next === undefined ? lower : Math.sqrt(lower * (next - 1));
}

/** Interpolates between neighbouring ranks, as percentile_cont does. Null: there is no call. */
export function percentileOf(counts: readonly LatencyCount[], share: number): number | null {
  const sorted = counts.toSorted((one, other) => one.bucket - other.bucket);
  const total = sorted.reduce((sum, { requests }) => sum + requests, 0);
  if (total === 0) return null;
  const atRank = (rank: number): number => {
    let passed = 0;
    const found = sorted.find(({ requests }) => (passed += requests) > rank);
    return estimateOf(found?.bucket ?? 0);
  };
  const rank = share * (total - 1);
  const below = atRank(Math.floor(rank));
  const above = atRank(Math.ceil(rank));
  return below + (above - below) * (rank - Math.floor(rank));
}
