// The statements that move delivery cursors: claim, renew, advance, fail.
//
// Why plain SQL: whether a destination may be claimed, and whether its owner may still move the cursor, has to be
// decided and written under one lock. All times are the database's own, so that clocks need not agree.
import { isLeaseFree } from '../database/sessions.js';
import { opaqueArray } from '../database/rows/record-rows.js';

/** Seconds that a lease lives without a renewal. */
export const LEASE_SECONDS = 30;

// When a cursor moves, the generations after it were young enough a moment before. Log pages reach two hours beyond
// the age at which a generation expires, so those after a cursor that stood for less cannot have left them.
const STOOD_AFTER = '1 hour';

// No index may serve `coalesce`: in a table that has grown since its last ANALYZE, idle cursors look rare, and the planner
// would read all of them for each workspace.
const CLAIMABLE = `destination.enabled AND destination.deleted_at IS NULL AND workspace.is_broadcast_enabled
  AND ${isLeaseFree('cursor.lease_session', 'cursor.lease_expires_at')}
  AND coalesce(cursor.next_attempt_at, '-infinity') <= now()`;

/**
 * A generation after a cursor. The upper bound excludes no rows, but it changes the plan. The planner expects few
 * rows between two positions and uses the index on positions. Without it, it reads all generations of the workspace
 * in the time range, for each cursor.
 */
const BEHIND_CURSOR = `generation.log_transaction BETWEEN cursor.log_transaction AND ${2n ** 63n - 1n}
        AND (generation.log_transaction, generation.log_ordinal) > (cursor.log_transaction, cursor.log_ordinal)`;

/**
 * OFFSET 0: each destination is looked up by its key. A join of another order would read all destinations of the
 * workspace, deleted ones included.
 */
const JOINED = `FROM delivery_cursors AS cursor
  CROSS JOIN LATERAL (
    SELECT enabled, deleted_at FROM destinations AS one
    WHERE one.workspace_id = cursor.workspace_id AND one.id = cursor.destination_id OFFSET 0
  ) AS destination
  JOIN workspaces AS workspace ON workspace.id = cursor.workspace_id`;

/** Gives the rows of \`chosen\` (workspace_id, destination_id) a new claim, $1, of the session $2. */
function claim(chosen: string): string {
  return `WITH chosen AS (${chosen})
UPDATE delivery_cursors AS cursor
SET lease_owner = $1, lease_session = $2, lease_expires_at = now() + make_interval(secs => ${LEASE_SECONDS})
FROM chosen WHERE cursor.workspace_id = chosen.workspace_id AND cursor.destination_id = chosen.destination_id
RETURNING cursor.workspace_id AS "workspaceId", cursor.destination_id AS "destinationId",
  cursor.log_transaction AS transaction, cursor.log_ordinal AS ordinal, cursor.failures, cursor.paused_at AS "pausedAt",
  cursor.consecutive_rejections AS "consecutiveRejections",
  cursor.start_snapshot AS "startSnapshot", cursor.updated_at < now() - interval '${STOOD_AFTER}' AS "hasStood",
  extract(epoch FROM now() - cursor.updated_at)::float8 * 1000 AS "stoodFor"`;
}

/** $1 the new claim, $2 its session, $3 workspace. */
export const CLAIM_WORKSPACE = claim(
  `SELECT cursor.workspace_id, cursor.destination_id ${JOINED}
  WHERE cursor.workspace_id = $3 AND ${CLAIMABLE} FOR UPDATE OF cursor SKIP LOCKED`,
);

// $4 a moment: a generation created since then waits, or an expired one whose replay was requested.
const WAITED_FOR = `(
    EXISTS (
      SELECT 1 FROM generations AS generation WHERE generation.workspace_id = cursor.workspace_id
        AND ${BEHIND_CURSOR} AND generation.created_at >= $4
    ) OR EXISTS (
      SELECT 1 FROM dead_letters AS letter WHERE letter.workspace_id = cursor.workspace_id
        AND letter.destination_id = cursor.destination_id AND letter.replay_requested_at IS NOT NULL
    )
  )`;

/**
 * $1 the new claim, $2 its session, $3 workspaces, $4 a moment: destinations with a backlog of generations created
 * since then. The lateral join goes workspace by workspace: one join over all would read every workspace for a few.
 */
export const CLAIM_WAITING_OF_WORKSPACES = claim(
  `SELECT waiting.* FROM unnest(${opaqueArray('$3', 'uuid')}) AS wanted (workspace_id) CROSS JOIN LATERAL (
    SELECT cursor.workspace_id, cursor.destination_id ${JOINED}
    WHERE cursor.workspace_id = wanted.workspace_id AND ${CLAIMABLE} AND ${WAITED_FOR} FOR UPDATE OF cursor SKIP LOCKED
  ) AS waiting`,
);

/** $1 a workspace, $2 a maximum: the next workspaces that have destinations. */
export const LIST_WORKSPACES = `
SELECT DISTINCT workspace_id AS "workspaceId" FROM delivery_cursors WHERE workspace_id > $1 ORDER BY workspace_id LIMIT $2`;

/**
 * $1 the new claim, $2 its session, $3 a maximum: destinations whose next attempt is due. Row by row: in one join the
 * planner may read every destination to find none.
 */
export const CLAIM_DUE = claim(
  `SELECT claimable.* FROM delivery_cursors AS due CROSS JOIN LATERAL (
    SELECT cursor.workspace_id, cursor.destination_id ${JOINED}
    WHERE cursor.workspace_id = due.workspace_id AND cursor.destination_id = due.destination_id AND ${CLAIMABLE}
    FOR UPDATE OF cursor SKIP LOCKED
  ) AS claimable WHERE due.next_attempt_at <= now() LIMIT $3`,
);

/** $1 claims. */
export const RENEW = `
UPDATE delivery_cursors SET lease_expires_at = now() + make_interval(secs => ${LEASE_SECONDS}) WHERE lease_owner = ANY($1)`;

/** $1 claim, $2 workspace, $3 destination. Clears a delay that is over: no attempt is due any more. */
export const RELEASE = `
UPDATE delivery_cursors SET lease_owner = NULL, lease_session = NULL, lease_expires_at = NULL,
  next_attempt_at = CASE WHEN next_attempt_at > now() THEN next_attempt_at END
WHERE workspace_id = $2 AND destination_id = $3 AND lease_owner = $1`;

/** $1 claim, $2 workspace, $3 destination: the position of the cursor, if the claim still holds. */
export const LOOK_AGAIN = `
SELECT log_transaction AS transaction, log_ordinal AS ordinal, start_snapshot AS "startSnapshot" FROM delivery_cursors
WHERE workspace_id = $2 AND destination_id = $3 AND lease_owner = $1`;

/** Adds the counts of a JSON object to those of the column. */
const sumOfDropped = (
  parameter: string,
): string => `CASE WHEN ${parameter}::jsonb = '{}' THEN cursor.dropped ELSE
    cursor.dropped || (SELECT jsonb_object_agg(key, coalesce((cursor.dropped ->> key)::bigint, 0) + value::bigint)
      FROM jsonb_each_text(${parameter}::jsonb)) END`;

/**
 * $1 claim, $2 workspace, $3 destination, $4 and $5 the new position, $6 the confirmed count, $7 dropped counts,
 * $8 dead letters [{generation_id, generation_created_at, reason, message, message_ciphertext,
 * message_encryption_key_id}],
 * $9 and $10 the old position, $11 the start snapshot, $12 rejected traces after the last accepted one, $13 the status of
 * the last rejection, $14 its message without the platform's text (null: no trace was rejected), $15 and $16 the encrypted
 * text and the id of its key, $17 delivered generations: during a replay from a time some of them may be dead letters.
 *
 * Records the whole outcome of a batch in one commit: the counts cover exactly the generations before the cursor. It
 * fails when an operator has moved the cursor since: the operator's position prevails.
 */
export const ADVANCE = `
WITH moved AS (
  UPDATE delivery_cursors AS cursor SET
    log_transaction = $4, log_ordinal = $5, updated_at = now(),
    delivered = cursor.delivered + $6::bigint, dropped = ${sumOfDropped('$7')},
    failures = CASE WHEN $6::bigint > 0 THEN 0 ELSE cursor.failures END,
    consecutive_rejections = CASE WHEN $6::bigint > 0 THEN 0 ELSE cursor.consecutive_rejections END + $12::integer,
    last_error_at = CASE WHEN $14::text IS NULL THEN cursor.last_error_at ELSE now() END,
    last_error_class = CASE WHEN $14::text IS NULL THEN cursor.last_error_class ELSE 'refused' END,
    last_error_status = CASE WHEN $14::text IS NULL THEN cursor.last_error_status ELSE $13::smallint END,
    last_error_message = CASE WHEN $14::text IS NULL THEN cursor.last_error_message ELSE $14 END,
    last_error_ciphertext = CASE WHEN $14::text IS NULL THEN cursor.last_error_ciphertext ELSE $15::bytea END,
    last_error_encryption_key_id = CASE WHEN $14::text IS NULL THEN cursor.last_error_encryption_key_id ELSE $16::text END,
    last_success_at = CASE WHEN $6::bigint > 0 THEN now() ELSE cursor.last_success_at END,
    next_attempt_at = CASE WHEN $6::bigint > 0 THEN NULL ELSE cursor.next_attempt_at END,
    paused_at = CASE WHEN $6::bigint > 0 THEN NULL ELSE cursor.paused_at END
  WHERE cursor.workspace_id = $2 AND cursor.destination_id = $3 AND cursor.lease_owner = $1
    AND cursor.log_transaction = $9 AND cursor.log_ordinal = $10 AND cursor.start_snapshot = $11
  RETURNING cursor.workspace_id, cursor.destination_id,
    ($9, $10) < (cursor.replay_end_transaction, cursor.replay_end_ordinal) AS is_replay
), delivered_letters AS (
  UPDATE dead_letters AS letter SET replay_requested_at = NULL, replayed_at = now(), is_delivered = true
  FROM moved WHERE moved.is_replay
    AND letter.workspace_id = moved.workspace_id AND letter.destination_id = moved.destination_id
    AND letter.generation_id = ANY($17::uuid[])
), buried AS (
  INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message,
    message_ciphertext, message_encryption_key_id)
  SELECT moved.workspace_id, moved.destination_id, letter.*
  FROM moved, json_to_recordset($8::json)
    AS letter (generation_id uuid, generation_created_at timestamptz, reason text, message text,
      message_ciphertext bytea, message_encryption_key_id text)
  ON CONFLICT (workspace_id, destination_id, generation_id)
  DO UPDATE SET reason = excluded.reason, message = excluded.message, message_ciphertext = excluded.message_ciphertext,
    message_encryption_key_id = excluded.message_encryption_key_id, replay_requested_at = NULL,
    replayed_at = now(), is_delivered = false
)
SELECT count(*)::integer AS moved FROM moved`;

/**
 * $1 claim, $2 workspace, $3 destination, $4 class, $5 status, $6 message without the platform's text, $7
 * milliseconds until the next attempt, $8 and $9 the encrypted text and the id of its key.
 */
export const FAIL = `
UPDATE delivery_cursors AS cursor SET
  failures = cursor.failures + 1, last_error_at = now(), last_error_class = $4, last_error_status = $5,
  last_error_message = $6, last_error_ciphertext = $8, last_error_encryption_key_id = $9, next_attempt_at = now() + make_interval(secs => $7::float8 / 1000),
  paused_at = CASE WHEN $4 = 'blocked' THEN coalesce(cursor.paused_at, now()) END
WHERE cursor.workspace_id = $2 AND cursor.destination_id = $3 AND cursor.lease_owner = $1
RETURNING 1`;
