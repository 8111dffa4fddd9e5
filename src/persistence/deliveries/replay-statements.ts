// The statements about the backlog of a destination, its replay and the limits of replays and tests.
//
// Why plain SQL: a cursor is compared and moved under the lock of its row, by the clock of the database.

/** The upper bound of the count. */
const MAX_PENDING = 10_000;

/**
 * $1 workspace, $2 and $3 the position of the cursor, $4 its start snapshot, $5 the oldest moment to read.
 * The position is a parameter, and the statement is planned for it. Joined, it would be searched among all
 * generations of the workspace since that moment.
 */
export const COUNT_PENDING = `
SELECT count(*)::integer AS pending, min(created_at) AS oldest FROM (
  SELECT created_at FROM generations
  WHERE workspace_id = $1 AND (log_transaction, log_ordinal) > ($2, $3) AND created_at >= $5
    AND NOT pg_visible_in_snapshot(log_transaction::text::xid8, $4::pg_snapshot)
  ORDER BY log_transaction, log_ordinal LIMIT ${MAX_PENDING}
) AS waiting`;

/**
 * $1 workspace, $2 destination, $3 a moment. Moves the cursor back, to before the first generation created since
 * then. It never moves forward, and not while the destination is off: switched on, the cursor would jump to the end.
 *
 * The start snapshot, which excludes generations from before the activation, is cut at that first generation. The
 * cursor may already be before it, if a transaction was open at the activation, and would skip the generations that
 * follow.
 *
 * The first such generation in the log is among those of the first hour: no call takes so long, and no clocks differ
 * so much. OFFSET 0 keeps the planner from searching it from the beginning of the log.
 */
export const SET_BACK = `
WITH destination AS (
  SELECT destination.enabled AND workspace.is_broadcast_enabled AS "isOn" FROM destinations AS destination
  JOIN workspaces AS workspace ON workspace.id = destination.workspace_id
  WHERE destination.workspace_id = $1 AND destination.id = $2
), first AS (
  SELECT min(log_transaction) AS log_transaction FROM (
    SELECT log_transaction FROM generations WHERE workspace_id = $1 AND created_at >= $3 AND created_at <= (
      SELECT min(created_at) FROM generations WHERE workspace_id = $1 AND created_at >= $3
    ) + interval '1 hour' OFFSET 0
  ) AS early
), moved AS (
  UPDATE delivery_cursors AS cursor
  SET (log_transaction, log_ordinal) = (
      SELECT back.log_transaction, back.log_ordinal
      FROM (VALUES (first.log_transaction - 1, 2147483647), (cursor.log_transaction, cursor.log_ordinal))
        AS back (log_transaction, log_ordinal)
      ORDER BY 1, 2 LIMIT 1
    ),
    start_snapshot = concat_ws(':',
      least(pg_snapshot_xmin(cursor.start_snapshot::pg_snapshot)::text::bigint, first.log_transaction),
      first.log_transaction,
      coalesce((
        SELECT string_agg(open.id::text, ',' ORDER BY open.id::text::bigint)
        FROM pg_snapshot_xip(cursor.start_snapshot::pg_snapshot) AS open (id)
        WHERE open.id::text::bigint < first.log_transaction
      ), '')),
    next_attempt_at = NULL
  FROM first, destination
  WHERE destination."isOn" AND cursor.workspace_id = $1 AND cursor.destination_id = $2
    AND (first.log_transaction <= cursor.log_transaction
      OR first.log_transaction < pg_snapshot_xmax(cursor.start_snapshot::pg_snapshot)::text::bigint)
)
SELECT "isOn" FROM destination`;

/** $1 workspace, $2 destination. */
export const RESUME = `
UPDATE delivery_cursors SET next_attempt_at = NULL, paused_at = NULL, failures = 0
WHERE workspace_id = $1 AND destination_id = $2 AND next_attempt_at > now() RETURNING 1`;

const RECENT_REPLAYS = `SELECT started FROM unnest(replays_started_at) AS started WHERE started > now() - interval '1 hour'`;
// Clients obey a `Retry-After` below 60 s only.
const TEST_WINDOW = `interval '59 seconds'`;
const RECENT_TESTS = `SELECT started FROM unnest(tests_started_at) AS started WHERE started > now() - ${TEST_WINDOW}`;

/** Milliseconds until the oldest leaves the window. */
const untilRoom = (window: string): string =>
  `ceil(1000 * extract(epoch FROM min(started) + ${window} - now()))::integer`;

/** $1 workspace, $2 destination. The lock serialises requests. */
export const LOCK_LIMITS = `
SELECT log_transaction AS transaction, log_ordinal AS ordinal,
  coalesce((log_transaction, log_ordinal) < (replay_end_transaction, replay_end_ordinal), false) AS "isBehindEnd",
  (SELECT count(*)::integer FROM (${RECENT_REPLAYS}) AS recent) AS recent,
  (SELECT ${untilRoom(`interval '1 hour'`)} FROM (${RECENT_REPLAYS}) AS recent) AS "retryAfter"
FROM delivery_cursors WHERE workspace_id = $1 AND destination_id = $2 FOR UPDATE`;

export const HAS_REQUESTED = `
SELECT EXISTS (
  SELECT 1 FROM dead_letters WHERE workspace_id = $1 AND destination_id = $2 AND replay_requested_at IS NOT NULL
) AS "hasRequested"`;

/**
 * $1 workspace, $2 destination, $3 and $4 the position before the replay, $5 whether dead letters were requested. A
 * replay without deliveries does not count.
 */
export const NOTE_REPLAY = `
UPDATE delivery_cursors SET replays_started_at = ARRAY(${RECENT_REPLAYS}) || now(),
  replay_end_transaction = CASE WHEN $5 THEN replay_end_transaction ELSE $3 END,
  replay_end_ordinal = CASE WHEN $5 THEN replay_end_ordinal ELSE $4 END
WHERE workspace_id = $1 AND destination_id = $2 AND ($5 OR (log_transaction, log_ordinal) < ($3, $4))`;

export const NOTE_TEST = `
UPDATE delivery_cursors SET tests_started_at = ARRAY(${RECENT_TESTS}) || now()
WHERE workspace_id = $1 AND destination_id = $2 AND cardinality(ARRAY(${RECENT_TESTS})) < $3
RETURNING 1`;

export const TEST_WAIT = `
SELECT coalesce(${untilRoom(TEST_WINDOW)}, 0) AS "retryAfter"
FROM delivery_cursors, unnest(tests_started_at) AS started
WHERE workspace_id = $1 AND destination_id = $2 AND started > now() - ${TEST_WINDOW}`;
