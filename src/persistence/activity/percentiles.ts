// The percentiles of analytics: of the latency of calls, and of the time to the first token of streamed chats.
import type { MetricName } from '../../domain/generations/analytics.js';

/** `latency`: of every call. `first_token`: of streamed chats that had content. */
export type Timing = 'latency' | 'first_token';

/** The shares of the metrics that no sums answer exactly. */
export const PERCENTILES = {
  latency_p50: { of: 'latency', share: 0.5 },
  latency_p90: { of: 'latency', share: 0.9 },
  latency_p95: { of: 'latency', share: 0.95 },
  latency_p99: { of: 'latency', share: 0.99 },
  time_to_first_token_p50: { of: 'first_token', share: 0.5 },
  time_to_first_token_p95: { of: 'first_token', share: 0.95 },
} as const satisfies Partial<Record<MetricName, { readonly of: Timing; readonly share: number }>>;
export type PercentileName = keyof typeof PERCENTILES;

export const isPercentile = (name: string): name is PercentileName => name in PERCENTILES;
export const isOfFirstToken = (name: string): boolean =>
  isPercentile(name) && PERCENTILES[name].of === 'first_token';

/** Milliseconds with three decimals: more is noise of the database's arithmetic. */
export const rounded = (expression: string): string => `round((${expression})::numeric, 3)::float8`;

const MILLISECONDS: Readonly<Record<Timing, string>> = {
  latency: 'duration_ms',
  first_token: 'first_token_ms',
};

/** Of rows that stand for one call each. */
export function percentile(name: PercentileName): string {
  const { of, share } = PERCENTILES[name];
  return rounded(`percentile_cont(${share}) WITHIN GROUP (ORDER BY ${MILLISECONDS[of]})`);
}

/**
 * The latency of rows that stand for several calls each: percentile_cont interpolates between neighbouring ranks so.
 * Rows of the history have no first tokens.
 */
export function weightedPercentile(name: PercentileName): string {
  const { of, share } = PERCENTILES[name];
  if (of === 'first_token') return percentile(name);
  const rank = (total: string): string => `${share}::float8 * (${total} - 1)`;
  const at = (round: 'floor' | 'ceil'): string =>
    `min(latency) FILTER (WHERE upto > ${round}(${rank('total')}))`;
  const part = `(${rank('max(total)')} - floor(${rank('max(total)')}))`;
  return rounded(`${at('floor')} + (${at('ceil')} - ${at('floor')}) * ${part}`);
}
