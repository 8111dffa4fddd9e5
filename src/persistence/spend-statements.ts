// The text of the statements that move money: appending and settling, and the leases that bound what is in flight.
//
// Why plain SQL: every statement must read a counter, decide and write it under one lock, in one round trip.
// Rows are locked in one order everywhere (leases, then the counters of keys, of workspaces, of accounts, each by id), so
// that those who settle the same counters wait for each other instead of deadlocking. A lease is known by its column
// process_id: a process has one lease of a counter, and a new one when it cannot trust the old one any more.
import type { SpendHolderKind } from '../domain/spend-lease.js';
import type { ContentBlockRow } from './content-blocks.js';
import { LOG_TRANSACTION } from './log-offset.js';

interface CounterTable {
  readonly table: string;
  /** Of the holder $2 in the workspace $1. */
  readonly condition: string;
}

const COUNTERS: Readonly<Record<SpendHolderKind, CounterTable>> = {
  key: { table: 'key_spend', condition: 'workspace_id = $1::uuid AND api_key_id = $2::uuid' },
  workspace: { table: 'workspace_spend', condition: 'workspace_id = $2::uuid' },
  account: { table: 'account_spend', condition: 'account_id = $2::uuid' },
};
/** In the order in which counters are locked. */
const KINDS = ['key', 'workspace', 'account'] as const;

function windowOf(unit: string, day: string): string {
  return `date_trunc('${unit}', (${day})::timestamp)`;
}

/** The columns of the type generation_entry, in its order. */
export const GENERATION_COLUMNS = [
  'id',
  'workspace_id',
  'created_at',
  'account_id',
  'api_key_id',
  'operation',
  'model',
  'endpoint',
  'provider',
  'upstream_id',
  'status',
  'error_type',
  'input_count',
  'prompt_tokens',
  'total_tokens',
  'cost',
  'upstream_cost',
  'is_byok',
  'dimensions',
  'encoding_format',
  'input_type',
  'duration_ms',
  'upstream_ms',
  'user_id',
  'session_id',
  'request_id',
  'region',
  'trace',
  'request_context',
  'attempts',
  'content_ordinal',
  'content_bytes',
] as const;

/** The columns of the type generation_content_entry, in its order. */
export const CONTENT_COLUMNS = [
  'generation_id',
  'workspace_id',
  'created_at',
  'ordinal',
  'generation_ids',
  'ciphertext',
  'encryption_key_id',
] as const satisfies readonly (keyof ContentBlockRow)[];

/** A generation as the statement reads it. */
export type GenerationRow = Readonly<Record<(typeof GENERATION_COLUMNS)[number], unknown>>;

const NAMES = GENERATION_COLUMNS.join(', ');

/**
 * A CTE that takes releases [{workspace_id, holder_id, lease_id, amount}], one a lease, off the leases: of each the part
 * that is really there. A process that was away so long that its lease was swept has none left.
 */
function releasedBy(parameter: string): string {
  return `
released AS (
  UPDATE spend_leases AS lease SET amount = lease.amount - release.amount
  FROM (
    SELECT held.workspace_id, held.holder_id, held.process_id, held.holder, least(held.amount, given.amount) AS amount
    FROM spend_leases AS held
    JOIN json_to_recordset(${parameter}::json)
      AS given (workspace_id uuid, holder_id uuid, lease_id uuid, amount numeric)
      ON held.workspace_id = given.workspace_id AND held.holder_id = given.holder_id
        AND held.process_id = given.lease_id
    ORDER BY held.process_id FOR UPDATE OF held
  ) AS release
  WHERE lease.workspace_id = release.workspace_id AND lease.holder_id = release.holder_id
    AND lease.process_id = release.process_id
  RETURNING release.workspace_id, release.holder_id, release.holder, release.amount
)`;
}

/** What `released` says of the counters. */
const RELEASES = `
SELECT holder, CASE holder WHEN 'key' THEN workspace_id END AS workspace_id, holder_id, 0 AS cost, 0 AS byok_cost,
  amount AS released FROM released`;

/**
 * The end of a statement: settles changes (holder, workspace_id, holder_id, cost, byok_cost, released) of one day. The
 * functions are the migrations': prisma/migrations/20261122000000_settle_spend says why.
 */
function settle(changes: string, day: string): string {
  const calls = KINDS.map(
    (kind) =>
      `WHEN '${kind}' THEN settle_${COUNTERS[kind].table}(workspace_id, holder_id, ${day}, cost, byok_cost, released)`,
  );
  return `
SELECT count(CASE holder ${calls.join(' ')} END) FROM (
  SELECT holder, workspace_id, holder_id, sum(cost) AS cost, sum(byok_cost) AS byok_cost, sum(released) AS released
  FROM (${changes}) AS change
  GROUP BY holder, workspace_id, holder_id
  HAVING sum(cost) <> 0 OR sum(byok_cost) <> 0 OR sum(released) <> 0
  ORDER BY array_position(ARRAY[${KINDS.map((kind) => `'${kind}'`).join(', ')}], holder), workspace_id, holder_id
) AS summed`;
}

/**
 * $1 generations of one UTC day as records, $2 the day, $3 releases, $4 blocks of contents as records, each with the
 * ordinal of its last generation.
 *
 * Why records and not one array per column: the same rows cost less to write down and to read in one text. Spend is the
 * sum of the rows that were inserted, and a generation that is there already fails the statement: none counts twice.
 */
export const APPEND_AND_SETTLE = `
WITH appended AS (
  INSERT INTO generations (${NAMES}, log_transaction, log_ordinal)
  SELECT ${NAMES}, ${LOG_TRANSACTION}, ordinal
  FROM unnest($1::generation_entry[]) WITH ORDINALITY AS batch (${NAMES}, ordinal)
  RETURNING workspace_id, account_id, api_key_id, coalesce(cost, 0) AS cost,
    CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END AS byok_cost
), kept AS (
  INSERT INTO generation_contents (generation_id, workspace_id, created_at, log_transaction, log_ordinal, generation_ids,
    ciphertext, encryption_key_id)
  SELECT generation_id, workspace_id, created_at, ${LOG_TRANSACTION}, ordinal, generation_ids, decode(ciphertext, 'base64'),
    encryption_key_id
  FROM unnest($4::generation_content_entry[])
), ${releasedBy('$3')}
${settle(
  `
SELECT counter.*, cost, byok_cost, 0 AS released
FROM appended CROSS JOIN LATERAL (VALUES ('key', appended.workspace_id, api_key_id),
  ('workspace', NULL, appended.workspace_id), ('account', NULL, account_id)) AS counter (holder, workspace_id, holder_id)
UNION ALL ${RELEASES}`,
  '$2::date',
)}`;

/** $1 releases: gives back what calls did not use. */
export const GIVE_BACK = `WITH ${releasedBy('$1')} ${settle(RELEASES, 'NULL')}`;

/** Takes back the leases whose processes have not renewed them. */
export const SWEEP_EXPIRED_LEASES = `
WITH released AS (
  DELETE FROM spend_leases WHERE expires_at < now() RETURNING workspace_id, holder_id, holder, amount
) ${settle(RELEASES, 'NULL')}`;

// From here on a process takes more than it needs: a fiftieth of what is left.
const FAR = 1_000;
const SHARE = 50;

function currentWindow(column: string, unit: string): string {
  return `CASE WHEN ${windowOf(unit, 'last_day')} >= ${windowOf(unit, '$5::date')} THEN ${column} ELSE 0 END`;
}

/**
 * $1 workspace, $2 holder, $3 lease, $4 caps [{window, limit, include_byok}], $5 today, $6 what is needed, $7 what all
 * waiting calls need together, $8 seconds of a lease's life.
 *
 * Grants at least $6 or nothing. Answers what was granted, what is unspent, and what of that is reserved by anyone.
 */
export function acquireLease(kind: SpendHolderKind): string {
  const { table, condition } = COUNTERS[kind];
  return `
WITH lease AS (
  SELECT 1 FROM spend_leases WHERE workspace_id = $1::uuid AND holder_id = $2::uuid AND process_id = $3::uuid
  FOR UPDATE
), counter AS (
  SELECT reserved, total, byok_total,
    ${currentWindow('daily', 'day')} AS daily, ${currentWindow('byok_daily', 'day')} AS byok_daily,
    ${currentWindow('weekly', 'week')} AS weekly, ${currentWindow('byok_weekly', 'week')} AS byok_weekly,
    ${currentWindow('monthly', 'month')} AS monthly, ${currentWindow('byok_monthly', 'month')} AS byok_monthly
  FROM ${table} WHERE ${condition} AND (SELECT count(*) FROM lease) >= 0 FOR UPDATE
), room AS (
  SELECT counter.reserved, min(cap.limit
    - CASE cap.window WHEN 'daily' THEN daily WHEN 'weekly' THEN weekly WHEN 'monthly' THEN monthly ELSE total END
    - CASE WHEN NOT cap.include_byok THEN 0
        WHEN cap.window = 'daily' THEN byok_daily WHEN cap.window = 'weekly' THEN byok_weekly
        WHEN cap.window = 'monthly' THEN byok_monthly ELSE byok_total END) AS unspent
  FROM counter, json_to_recordset($4::json) AS cap ("window" text, "limit" numeric, include_byok boolean)
  GROUP BY counter.reserved
), grants AS (
  SELECT unspent, reserved, CASE
    WHEN unspent - reserved < $6::numeric THEN 0
    WHEN unspent - reserved >= $6::numeric * ${FAR}
      THEN greatest(least($7::numeric, unspent - reserved), trunc((unspent - reserved) / ${SHARE}, 12))
    ELSE least($7::numeric, unspent - reserved) END AS amount
  FROM room
), counted AS (
  UPDATE ${table} AS held SET reserved = held.reserved + grants.amount FROM grants
  WHERE ${condition} AND grants.amount > 0
), leased AS (
  INSERT INTO spend_leases (workspace_id, holder_id, holder, process_id, amount, expires_at)
  SELECT $1::uuid, $2::uuid, '${kind}', $3::uuid, amount, now() + make_interval(secs => $8::integer) FROM grants
  WHERE amount > 0
  ON CONFLICT (workspace_id, holder_id, process_id)
  DO UPDATE SET amount = spend_leases.amount + excluded.amount, expires_at = excluded.expires_at
)
SELECT amount::text, unspent::text, reserved::text FROM grants`;
}

/** $1 leases, $2 seconds. What holds nothing is left to expire. */
export const RENEW_LEASES = `
UPDATE spend_leases SET expires_at = now() + make_interval(secs => $2::integer)
WHERE process_id = ANY($1::uuid[]) AND amount > 0`;
