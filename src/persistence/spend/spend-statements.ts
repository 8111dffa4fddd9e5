// The statements that move money: append and settle, and the leases that bound in-flight spend.
//
// Why plain SQL: every statement must read a counter, decide and write it under one lock, in one round trip. Rows are
// locked in one order everywhere (leases, then the counters of keys, of guardrails, of workspaces, of accounts, each by id).
// Concurrent settlements of the same counters therefore wait instead of deadlocking. A lease is identified by its
// column process_id: a process has one lease of a counter, and a new one when the old one is invalid.
import type { SpendOwnerKind } from '../../domain/spend/spend-lease.js';
import { LOG_TRANSACTION } from '../database/log-offset.js';
import { LIVE_SESSIONS } from '../database/sessions.js';

/** The columns of the type recorded_generation, in its order. */
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
  'completion_tokens',
  'reasoning_tokens',
  'cached_tokens',
  'chat',
  'error_message',
] as const;

export interface ContentBlockRow {
  readonly generation_id: string;
  readonly workspace_id: string;
  readonly created_at: Date;
  readonly ordinal: number;
  /** Null when it holds only the content of `generation_id`. */
  readonly generation_ids: string | null;
  readonly encryption_key_id: string;
  /** Its offset in the ciphertexts of all blocks, from 1. */
  readonly first_byte: number;
  readonly bytes: number;
}

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

/** A generation as a parameter of the statement. */
export type GenerationRow = Readonly<Record<(typeof GENERATION_COLUMNS)[number], unknown>>;

const NAMES = GENERATION_COLUMNS.join(', ');
/** A process whose clock is wrong by days must not create rows outside partitions and windows: see spend_day(). */
const DAYS_OFF = '(SELECT make_interval(days => spend_day($4::date) - $4::date))';
const VALUES = GENERATION_COLUMNS.map((column) =>
  column === 'created_at' ? `created_at + ${DAYS_OFF}` : column,
).join(', ');

/**
 * $1 generations of one UTC day as records, $2 blocks of contents as records, each with the ordinal of its last
 * generation, $3 the blocks' ciphertexts, $4 the day, $5 to $7 the releases, the changes of counters and their unpaid
 * amounts (spend-changes.ts), $8 the limit of unpaid amounts of a key and day, or null. Rejects a release of a lease that has
 * lapsed.
 *
 * Why records and not one array per column: the same rows cost less to write and to read in one text. Every row is
 * inserted or the statement fails, also on a generation that exists: spend is the sum of the rows, and none counts
 * twice. Counters are settled after the insert, and so locked as late as possible.
 */
export const APPEND_AND_SETTLE = `
WITH appended AS (
  INSERT INTO generations (${NAMES}, log_transaction, log_ordinal)
  SELECT ${VALUES}, ${LOG_TRANSACTION}, ordinal
  FROM unnest($1::recorded_generation[]) WITH ORDINALITY AS batch (${NAMES}, ordinal)
  RETURNING 1
), kept AS (
  INSERT INTO generation_contents (generation_id, workspace_id, created_at, log_transaction, log_ordinal, generation_ids,
    ciphertext, encryption_key_id)
  SELECT generation_id, workspace_id, created_at + ${DAYS_OFF}, ${LOG_TRANSACTION}, ordinal, generation_ids,
    substring($3::bytea FROM first_byte FOR bytes), encryption_key_id
  FROM unnest($2::content_block_entry[])
)
SELECT settle_calls($4::date, $5::spend_release[], $6::spend_change[], $7::numeric[], $8::numeric)
FROM (SELECT count(*) FROM appended) AS done`;

/** $1 workspace, $2 the moment of a generation, $3 its id, $4 its day: the row that APPEND_AND_SETTLE has inserted. */
export const IS_LOGGED = `
SELECT 1 FROM generations WHERE workspace_id = $1::uuid AND created_at = $2::timestamptz + ${DAYS_OFF} AND id = $3::uuid`;

/** $1 and $2 the releases and the changes of counters: returns amounts that calls did not use. */
export const RELEASE_RESERVATIONS = 'SELECT settle_spend(NULL, $1::spend_release[], $2::spend_change[])';

const sweepLeases = (condition: string): string => `
WITH swept AS (
  DELETE FROM spend_leases WHERE ${condition} RETURNING workspace_id, holder_id, holder, amount
)
SELECT settle_spend(NULL, '{}', array_agg(
  ROW(holder, workspace_id, holder_id, 0, 0, amount)::spend_change
  ORDER BY array_position(ARRAY['key', 'guardrail', 'workspace', 'account'], holder), workspace_id, holder_id
)) FROM swept WHERE amount <> 0 HAVING count(*) > 0`;

const OF_PREDECESSORS = `place = $1::text AND session <> $2::integer AND session NOT IN (${LIVE_SESSIONS})`;

/**
 * $1 the place of this process, $2 its session. Removes leases that were not renewed and that no call holds: most are empty,
 * and change no counter. Calls of a process hold parts until `held_until`, unless this process has taken its place.
 */
export const SWEEP_EXPIRED_LEASES = sweepLeases(
  `expires_at < now() AND (amount = 0 OR held_until < now() OR (${OF_PREDECESSORS}))`,
);

/** $1 the place of this process, $2 its session. Reads all leases: once, at the start. */
export const SWEEP_LEASES_OF_PREDECESSORS = sweepLeases(OF_PREDECESSORS);

/** Removes the leases of all processes without a session: the operator knows that they are dead. */
export const SWEEP_LOST_LEASES = sweepLeases(`session IS NULL OR session NOT IN (${LIVE_SESSIONS})`);

/**
 * $1 workspace, $2 owner, $3 lease, $4 today, $5 the needed amount, $6 the sum over all waiting calls, $7 seconds of
 * a lease's life, $8 whether the process holds a part of the lease, $9 to $11 the session and the place of the process, and
 * the seconds for which calls may hold the lease. Grants at least $5 or nothing, under the limits in the database; functions
 * of the migrations decide.
 */
export function acquireLease(kind: SpendOwnerKind): string {
  return `
SELECT granted::text, available::text, unspent::text, is_gone, caps
FROM acquire_held_lease('${kind}', $1::uuid, $2::uuid, $3::uuid, $4::date, $5::numeric, $6::numeric, $7::integer, $8::boolean,
  $9::integer, $10::text, $11::integer)`;
}

/**
 * $1 leases that calls hold or may hold, $2 leases that none holds, $3 seconds of a lease's life, $4 seconds for which calls may
 * hold a lease. Returns those that exist. Empty ones are left to expire.
 */
export const RENEW_LEASES = `
UPDATE spend_leases SET
  expires_at = CASE WHEN amount > 0 THEN now() + make_interval(secs => $3::integer) ELSE expires_at END,
  held_until = CASE WHEN process_id = ANY($2::uuid[]) THEN '-infinity' ELSE now() + make_interval(secs => $4::integer) END
WHERE process_id = ANY($1::uuid[] || $2::uuid[])
RETURNING process_id AS id, amount > 0 AS "isRenewed"`;
