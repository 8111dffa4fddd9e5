// The rollups of the log by hour and day that analytics read: for workspaces and keys, and for end users.
import { LATENCY_BOUNDS, LATENCY_BUCKETS } from '../../domain/generations/latency-histogram.js';
import { COUNTS, createRollup, selectCounts, summed } from '../rollups/rollup-statements.js';
import type { Measure, Rollup, SumsTable } from '../rollups/rollup-statements.js';

/**
 * Rows by all dimensions of a workspace or of each key; of each user by key, model and provider, without latencies. Totals:
 * one row for each key or user and period, without latencies. Models: the same by model and provider.
 */
export type UsageLevel =
  'workspace' | 'key' | 'key_total' | 'key_model' | 'user' | 'user_total' | 'user_model';

export interface UsageTable {
  readonly table: string;
  readonly period: 'hour' | 'day' | 'week';
  readonly level: UsageLevel;
  /** Younger periods are complete. */
  readonly readableDays: number;
  /** Later than `readableDays`, for processes whose clocks differ. */
  readonly removedAfterDays: number;
}

/** Analytics reach back 90 days. Keys and users have an hour of their own for a week only: most of them call in few hours. */
const KEPT_DAYS = { readableDays: 100, removedAfterDays: 101 };
/** Days of the sums of keys and users by hour. */
export const KEY_HOUR_DAYS = 8;
const KEPT_HOURS = { readableDays: KEY_HOUR_DAYS, removedAfterDays: 9 };
/** Days before now of the oldest row that is summed. */
export const SUMMED_DAYS = 101;

/** Has the last use of each key in few rows. */
export const TABLE_OF_LAST_USE = 'usage_key_model_weeks';

/** The totals rank many thousand keys: rows by model, with latencies, would be several times as many bytes. */
export const USAGE_TABLES: readonly UsageTable[] = [
  { table: 'usage_hours', period: 'hour', level: 'workspace', ...KEPT_DAYS },
  { table: 'usage_days', period: 'day', level: 'workspace', ...KEPT_DAYS },
  { table: 'usage_key_hours', period: 'hour', level: 'key', ...KEPT_HOURS },
  { table: 'usage_key_days', period: 'day', level: 'key', ...KEPT_DAYS },
  { table: 'usage_key_hour_totals', period: 'hour', level: 'key_total', ...KEPT_HOURS },
  { table: 'usage_key_day_totals', period: 'day', level: 'key_total', ...KEPT_DAYS },
  { table: 'usage_key_week_totals', period: 'week', level: 'key_total', ...KEPT_DAYS },
  { table: 'usage_key_model_days', period: 'day', level: 'key_model', ...KEPT_DAYS },
  { table: TABLE_OF_LAST_USE, period: 'week', level: 'key_model', ...KEPT_DAYS },
];

/** Bounded by the log: each row has at least one call, and goes with the calls of its days. */
export const USER_TABLES: readonly UsageTable[] = [
  { table: 'usage_user_hours', period: 'hour', level: 'user', ...KEPT_HOURS },
  { table: 'usage_user_days', period: 'day', level: 'user', ...KEPT_DAYS },
  { table: 'usage_user_weeks', period: 'week', level: 'user', ...KEPT_DAYS },
  { table: 'usage_user_hour_totals', period: 'hour', level: 'user_total', ...KEPT_HOURS },
  { table: 'usage_user_day_totals', period: 'day', level: 'user_total', ...KEPT_DAYS },
  { table: 'usage_user_week_totals', period: 'week', level: 'user_total', ...KEPT_DAYS },
  { table: 'usage_user_model_days', period: 'day', level: 'user_model', ...KEPT_DAYS },
  { table: 'usage_user_model_weeks', period: 'week', level: 'user_model', ...KEPT_DAYS },
];

/** The tables of a level, those of short periods first. Models have no hours: those by all dimensions answer for them. */
export function tablesOf(level: UsageLevel): readonly UsageTable[] {
  const own = [...USAGE_TABLES, ...USER_TABLES];
  const ofHours = isOfUsers(level) ? 'user' : level === 'workspace' ? 'workspace' : 'key';
  const hasHours = own.some((table) => table.level === level && table.period === 'hour');
  return own.filter(
    (table) => table.level === level || (!hasHours && table.level === ofHours && table.period === 'hour'),
  );
}

export const isOfUsers = (level: UsageLevel): boolean => level.startsWith('user');

/** The others count failed calls in a column: they have no status. */
export const hasLatencies = (level: UsageLevel): boolean => level === 'workspace' || level === 'key';

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
// All rows of a key have the same.
const USER_ID: Measure = { column: 'user_id', aggregate: 'min(user_id)', merge: (stored) => stored };
const SUMS = [summed('requests'), ...COUNTS.map(summed)];
const DIMENSIONS = ['model', 'endpoint', 'provider', 'status', 'error_type'];

const DIMENSIONS_OF: Readonly<Record<UsageLevel, readonly string[]>> = {
  workspace: DIMENSIONS,
  key: ['api_key_id', ...DIMENSIONS],
  key_total: ['api_key_id'],
  key_model: ['api_key_id', 'model', 'provider'],
  user: ['user_hash', 'api_key_id', 'model', 'provider'],
  user_total: ['user_hash'],
  user_model: ['user_hash', 'model', 'provider'],
};

function measuresOf({ table, level }: UsageTable): readonly Measure[] {
  if (isOfUsers(level)) return [...SUMS, FAILED_REQUESTS, USER_ID];
  if (hasLatencies(level)) return [...SUMS, LAST_CREATED_AT, LATENCIES, FIRST_TOKENS];
  return [...SUMS, FAILED_REQUESTS, ...(table === TABLE_OF_LAST_USE ? [LAST_CREATED_AT] : [])];
}

function sumsTableOf(definition: UsageTable): SumsTable {
  const { table, period, level, removedAfterDays } = definition;
  return {
    table,
    key: {
      workspace_id: 'workspace_id',
      period: period === 'hour' ? 'hour' : `date_trunc('${period}', hour, 'UTC')`,
      ...Object.fromEntries(DIMENSIONS_OF[level].map((column) => [column, column])),
    },
    measures: measuresOf(definition),
    // The backlog of a new table would be removed at once.
    where: `hour >= $6::timestamptz + interval '${SUMMED_DAYS - removedAfterDays} days'`,
  };
}

const HOUR_OF_ENTRY = "date_trunc('hour', created_at, 'UTC') AS hour";
const SUMS_OF_SLICE = `count(*)::integer AS requests, ${COUNTS.map((column) => `sum(${column}) AS ${column}`).join(', ')}`;
const GROUP = ['workspace_id', 'api_key_id', 'hour', ...DIMENSIONS, 'bucket', 'first_bucket'].join(', ');

export const USAGE_ROLLUP = createRollup('usage_rollup', {
  entry: `created_at, ${HOUR_OF_ENTRY}, model, coalesce(endpoint, '') AS endpoint,
      coalesce(provider, '') AS provider, status, coalesce(error_type, '') AS error_type, ${BUCKETS.latency.ofEntry} AS bucket,
      ${BUCKETS.first_token.ofEntry} AS first_bucket,
      ${selectCounts(COUNTS)}`,
  sums: `
  SELECT ${GROUP}, ${SUMS_OF_SLICE},
    max(created_at) AS last_created_at
  FROM slice GROUP BY ${GROUP}`,
  tables: USAGE_TABLES.map(sumsTableOf),
});

const USER_GROUP = 'workspace_id, api_key_id, hour, model, provider, status, user_id, user_hash';

// Of its own position: it begins at the start of the log, where the sums above have long been.
export const USER_ROLLUP = createRollup('user_rollup', {
  entry: `${HOUR_OF_ENTRY}, model, coalesce(provider, '') AS provider, status, user_id,
      coalesce(substr(sha256(convert_to(user_id, 'UTF8')), 1, 16), '') AS user_hash, ${selectCounts(COUNTS)}`,
  sums: `
  SELECT ${USER_GROUP}, ${SUMS_OF_SLICE} FROM slice GROUP BY ${USER_GROUP}`,
  tables: USER_TABLES.map(sumsTableOf),
});

export const rollupOf = (level: UsageLevel): Rollup => (isOfUsers(level) ? USER_ROLLUP : USAGE_ROLLUP);

/** $1 a moment, $2 rows at most. */
export const removeExpired = ({ table }: UsageTable): string => `
WITH removed AS (
  DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE period < $1 ORDER BY period LIMIT $2))
  RETURNING 1
)
SELECT count(*)::integer AS removed FROM removed`;
