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

/** The columns of the type content_block_entry, in its order. */
export const BLOCK_COLUMNS = [
  'generation_id',
  'workspace_id',
  'created_at',
  'ordinal',
  'generation_ids',
  'encryption_key_id',
  'first_byte',
  'bytes',
] as const satisfies readonly (keyof ContentBlockRow)[];

/** The columns of the type spend_release, in its order. */
export const RELEASE_COLUMNS = ['change', 'workspace_id', 'holder_id', 'lease_id', 'amount'] as const;

/** The columns of the type spend_change, in its order. */
export const CHANGE_COLUMNS = [
  'holder',
  'workspace_id',
  'holder_id',
  'cost',
  'byok_cost',
  'released',
] as const;

/** A generation as the statement reads it. */
export type GenerationRow = Readonly<Record<(typeof GENERATION_COLUMNS)[number], unknown>>;

const NAMES = GENERATION_COLUMNS.join(', ');

/**
 * $1 generations of one UTC day as records, $2 blocks of contents as records, each with the ordinal of its last
 * generation, $3 the blocks' ciphertexts, $4 the day, $5 and $6 what is released and what counters change by
 * (spend-changes.ts).
 *
 * Why records and not one array per column: the same rows cost less to write down and to read in one text. Every row is
 * inserted or the statement fails, on a generation that is there already too: spend is the sum of the rows, and none
 * counts twice. Counters are settled when the generations are there, and so locked as late as can be.
 */
export const APPEND_AND_SETTLE = `
WITH appended AS (
  INSERT INTO generations (${NAMES}, log_transaction, log_ordinal)
  SELECT ${NAMES}, ${LOG_TRANSACTION}, ordinal
  FROM unnest($1::generation_entry[]) WITH ORDINALITY AS batch (${NAMES}, ordinal)
  RETURNING 1
), kept AS (
  INSERT INTO generation_contents (generation_id, workspace_id, created_at, log_transaction, log_ordinal, generation_ids,
    ciphertext, encryption_key_id)
  SELECT generation_id, workspace_id, created_at, ${LOG_TRANSACTION}, ordinal, generation_ids,
    substring($3::bytea FROM first_byte FOR bytes), encryption_key_id
  FROM unnest($2::content_block_entry[])
)
SELECT settle_spend($4::date, $5::spend_release[], $6::spend_change[]) FROM (SELECT count(*) FROM appended) AS done`;

/** $1 and $2 what is released and what counters change by: gives back what calls did not use. */
export const GIVE_BACK = 'SELECT settle_spend(NULL, $1::spend_release[], $2::spend_change[])';

/** Takes back the leases whose processes have not renewed them. Most hold nothing any more, and change no counter. */
export const SWEEP_EXPIRED_LEASES = `
WITH swept AS (
  DELETE FROM spend_leases WHERE expires_at < now() RETURNING workspace_id, holder_id, holder, amount
)
SELECT settle_spend(NULL, '{}', array_agg(
  ROW(holder, workspace_id, holder_id, 0, 0, amount)::spend_change
  ORDER BY array_position(ARRAY['key', 'workspace', 'account'], holder), workspace_id, holder_id
)) FROM swept WHERE amount <> 0 HAVING count(*) > 0`;

// From here on a process takes more than it needs: a fiftieth of what is left.
const FAR = 1_000;
const SHARE = 50;

function currentWindow(column: string, unit: string): string {
  return `CASE WHEN ${windowOf(unit, 'last_day')} >= ${windowOf(unit, '$5::date')} THEN ${column} ELSE 0 END`;
}

/**
 * $1 workspace, $2 holder, $3 lease, $4 caps [{window, limit, include_byok}], $5 today, $6 what is needed, $7 what all
 * waiting calls need together, $8 seconds of a lease's life, $9 whether the process holds something of the lease.
 *
 * Grants at least $6 or nothing. Answers what was granted, what is unspent, and whether the lease is gone: swept, although
 * the process holds something of it. Such a one is not made anew: what calls still hold of it would be taken from it.
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
  SELECT unspent, $9::boolean AND NOT EXISTS (SELECT FROM lease) AS is_gone, CASE
    WHEN $9::boolean AND NOT EXISTS (SELECT FROM lease) THEN 0
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
SELECT amount::text, unspent::text, is_gone FROM grants`;
}

/** $1 leases, $2 seconds. Answers which were renewed. What holds nothing is left to expire. */
export const RENEW_LEASES = `
UPDATE spend_leases SET expires_at = now() + make_interval(secs => $2::integer)
WHERE process_id = ANY($1::uuid[]) AND amount > 0
RETURNING process_id AS id`;
