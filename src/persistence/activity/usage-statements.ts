// The rollup of the log by hour and day that analytics read, for workspaces and for keys.
import { LATENCY_BOUNDS, LATENCY_BUCKETS } from '../../domain/generations/latency-histogram.js';
import { COUNTS, createRollup, selectCounts, summed } from '../rollups/rollup-statements.js';
import type { Measure, SumsTable } from '../rollups/rollup-statements.js';

/** Rows by all dimensions of a workspace or of each key, or one row for each key and period, without latencies. */
export type UsageLevel = 'workspace' | 'key' | 'key_total';

export interface UsageTable {
  readonly table: string;
  readonly period: 'hour' | 'day' | 'week';
  readonly level: UsageLevel;
  /** Younger periods are complete. */
  readonly readableDays: number;
  /** Later than `readableDays`, for processes whose clocks differ. */
  readonly removedAfterDays: number;
}

/** Analytics reach back 90 days. Keys have an hour of their own for a week only: most of them call in few hours. */
const KEPT_DAYS = { readableDays: 100, removedAfterDays: 101 };
const KEPT_KEY_HOURS = { readableDays: 8, removedAfterDays: 9 };
/** Days before now of the oldest row that is summed. */
export const SUMMED_DAYS = 101;

/** The totals rank many thousand keys: rows by model, with latencies, would be several times as many bytes. */
export const USAGE_TABLES: readonly UsageTable[] = [
  { table: 'usage_hours', period: 'hour', level: 'workspace', ...KEPT_DAYS },
  { table: 'usage_days', period: 'day', level: 'workspace', ...KEPT_DAYS },
  { table: 'usage_key_hours', period: 'hour', level: 'key', ...KEPT_KEY_HOURS },
  { table: 'usage_key_days', period: 'day', level: 'key', ...KEPT_DAYS },
  { table: 'usage_key_hour_totals', period: 'hour', level: 'key_total', ...KEPT_KEY_HOURS },
  { table: 'usage_key_day_totals', period: 'day', level: 'key_total', ...KEPT_DAYS },
  { table: 'usage_key_week_totals', period: 'week', level: 'key_total', ...KEPT_DAYS },
];

/** Of a row of the log; null: no streamed chat, or one without content. */
export const FIRST_TOKEN_MS = `(chat ->> 'timeToFirstTokenMs')::integer`;

const bucketOf = (milliseconds: string): string =>
  `width_bucket(${milliseconds}, ARRAY[${LATENCY_BOUNDS.join(',')}])`;

/** The column of the sums that counts by bucket, and the bucket of a row of the log; the first one is 0. */
export const BUCKETS = {
  latency: { column: 'latencies', ofEntry: bucketOf('duration_ms') },
  first_token: { column: 'first_tokens', ofEntry: bucketOf(FIRST_TOKEN_MS) },
} as const;

/** 499: the caller left, and nothing has failed. */
export const IS_FAILED = 'status >= 400 AND status <> 499';

/** One array element for each bucket. */
export const forBuckets = (write: (bucket: number) => string): string =>
  `ARRAY[${Array.from({ length: LATENCY_BUCKETS }, (_write, bucket) => write(bucket)).join(', ')}]`;

// Sums of integers take a third of the time of sums of bigint, which are numeric.
const LATENCIES: Measure = {
  column: BUCKETS.latency.column,
  aggregate: forBuckets((bucket) => `coalesce(sum(requests) FILTER (WHERE bucket = ${bucket}), 0)::integer`),
  merge: (stored, added) => forBuckets((bucket) => `${stored}[${bucket + 1}] + ${added}[${bucket + 1}]`),
};
// Null where no call has one: most models never do.
const FIRST_TOKENS: Measure = {
  column: BUCKETS.first_token.column,
  aggregate: `CASE WHEN count(first_bucket) > 0 THEN ${forBuckets(
    (bucket) => `coalesce(sum(requests) FILTER (WHERE first_bucket = ${bucket}), 0)::integer`,
  )} END`,
  merge: (stored, added) =>
    `CASE WHEN ${stored} IS NULL THEN ${added} WHEN ${added} IS NULL THEN ${stored}
    ELSE ${forBuckets((bucket) => `${stored}[${bucket + 1}] + ${added}[${bucket + 1}]`)} END`,
};
const LAST_CREATED_AT: Measure = {
  column: 'last_created_at',
  aggregate: 'max(last_created_at)',
  merge: (stored, added) => `greatest(${stored}, ${added})`,
};
const FAILED_REQUESTS: Measure = {
  ...summed('failed_requests'),
  aggregate: `coalesce(sum(requests) FILTER (WHERE ${IS_FAILED}), 0)`,
};
const SUMS = [summed('requests'), ...COUNTS.map(summed)];
const DIMENSIONS = ['model', 'endpoint', 'provider', 'status', 'error_type'];

function sumsTableOf({ table, period, level, removedAfterDays }: UsageTable): SumsTable {
  return {
    table,
    key: {
      workspace_id: 'workspace_id',
      ...(level === 'workspace' ? {} : { api_key_id: 'api_key_id' }),
      period: period === 'hour' ? 'hour' : `date_trunc('${period}', hour, 'UTC')`,
      ...(level === 'key_total' ? {} : Object.fromEntries(DIMENSIONS.map((column) => [column, column]))),
    },
    measures: [
      ...SUMS,
      ...(level === 'key_total' ? [FAILED_REQUESTS] : [LAST_CREATED_AT, LATENCIES, FIRST_TOKENS]),
    ],
    // The backlog of a new table would be removed at once.
    where: `hour >= $6::timestamptz + interval '${SUMMED_DAYS - removedAfterDays} days'`,
  };
}

const GROUP = ['workspace_id', 'api_key_id', 'hour', ...DIMENSIONS, 'bucket', 'first_bucket'].join(', ');

export const USAGE_ROLLUP = createRollup('usage_rollup', {
  entry: `created_at, date_trunc('hour', created_at, 'UTC') AS hour, model, coalesce(endpoint, '') AS endpoint,
      coalesce(provider, '') AS provider, status, coalesce(error_type, '') AS error_type, ${BUCKETS.latency.ofEntry} AS bucket,
      ${BUCKETS.first_token.ofEntry} AS first_bucket,
      ${selectCounts(COUNTS)}`,
  sums: `
  SELECT ${GROUP}, count(*)::integer AS requests, ${COUNTS.map((column) => `sum(${column}) AS ${column}`).join(', ')},
    max(created_at) AS last_created_at
  FROM slice GROUP BY ${GROUP}`,
  tables: USAGE_TABLES.map(sumsTableOf),
});

/** $1 a moment, $2 rows at most. */
export const removeExpired = ({ table }: UsageTable): string => `
WITH removed AS (
  DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE period < $1 ORDER BY period LIMIT $2))
  RETURNING 1
)
SELECT count(*)::integer AS removed FROM removed`;
