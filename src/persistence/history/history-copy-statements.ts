// The cursor of the copy in ClickHouse. Passes and steps are those of the rollups; the rows of a step leave the database
// before the cursor moves, so a step that is interrupted is copied again.
//
// Why plain SQL: each statement decides and writes under the lock of the one row.
import { CURSOR, nextStep } from '../rollups/rollup-statements.js';
import { isLeaseFree } from '../database/sessions.js';
import { LOG_HORIZON, LOG_SNAPSHOT } from '../database/log-offset.js';
import { HISTORY_COLUMNS, HISTORY_ENTRY } from './history-columns.js';

/** The number that the next transaction gets, as a position of the log. */
const NEXT_TRANSACTION = `pg_snapshot_xmax(${LOG_SNAPSHOT}::pg_snapshot)::text::bigint`;

/** After every ordinal of a transaction. */
const END_OF_TRANSACTION = 2 ** 31 - 1;

/** $1 process, $2 seconds, $3 its session. Returns no row while another process has the lease. */
export const CLAIM = `
INSERT INTO history_copy AS copy (owner, leased_until, renewed_at, lease_session)
VALUES ($1, now() + make_interval(secs => $2), now(), $3)
ON CONFLICT (id) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until,
  renewed_at = excluded.renewed_at, lease_session = excluded.lease_session
WHERE copy.owner = excluded.owner OR ${isLeaseFree('copy.lease_session', 'copy.leased_until')}
RETURNING owner`;

/** Before any process has copied: the retention of the log waits for the first pass. */
export const REGISTER = `
INSERT INTO history_copy (owner, leased_until, renewed_at) VALUES ('', now(), now()) ON CONFLICT DO NOTHING`;

/** $1 process. */
export const RELEASE = 'UPDATE history_copy SET leased_until = now() WHERE owner = $1';

/** $1 process, $2 the identity of the tables: the copy of other tables begins again. */
export const RESET = `
UPDATE history_copy SET target = $2, summed_before = DEFAULT, pass_until = DEFAULT, pass_workspace_id = DEFAULT,
  pass_transaction = DEFAULT, pass_ordinal = DEFAULT, mark_transaction = DEFAULT, marked_at = NULL, copied_until = NULL,
  begun_at = now(), erased_until = NULL
WHERE owner = $1 AND target IS DISTINCT FROM $2`;

/**
 * $1 process. When every transaction before a mark is copied, all that is left began after the moment of the mark, and a
 * new mark is set.
 */
export const BEGIN_PASS = `
UPDATE history_copy SET pass_until = greatest(summed_before, ${LOG_HORIZON}), pass_workspace_id = DEFAULT,
  pass_transaction = DEFAULT, pass_ordinal = DEFAULT,
  copied_until = CASE WHEN summed_before >= mark_transaction THEN marked_at ELSE copied_until END,
  marked_at = CASE WHEN summed_before >= mark_transaction THEN now() ELSE marked_at END,
  mark_transaction = CASE WHEN summed_before >= mark_transaction THEN ${NEXT_TRANSACTION} ELSE mark_transaction END
WHERE owner = $1 AND pass_until = summed_before`;

/** A generation is recorded minutes after its time at the latest: the bound spares looking at older partitions. */
export const READ_PASS = `
SELECT ${CURSOR}, coalesce(copied_until - interval '7 days', '1970-01-01') AS since FROM history_copy`;

/**
 * Whether a destination of the workspace is in privacy mode, enabled or not: the history then gets no contents of its
 * calls. A destination that was deleted or left privacy mode after `moment` counts.
 */
export const isPrivate = (workspace: string, moment = 'now()'): string => `EXISTS (
  SELECT FROM destinations AS private WHERE private.workspace_id = ${workspace} AND (
    (private.privacy_mode AND (private.deleted_at IS NULL OR private.deleted_at >= ${moment}))
    OR private.private_until >= ${moment}
  )
)`;

const readStep = (entry: string, rows: string, further = ''): string => `
WITH ${nextStep(entry)}
SELECT workspace_id AS "workspaceId", log_transaction::text AS transaction, log_ordinal AS ordinal, is_last AS "isLast",
  (SELECT count(*)::integer FROM slice) AS count,
  (SELECT string_agg(row_to_json(entry)::text, E'\\n') FROM ${rows} AS entry) AS rows${further}
FROM after_step`;

/** The parameters of nextStep. One row: the cursor after the step, and the rows as JSON, one a line. */
export const READ_STEP = readStep(HISTORY_ENTRY, 'slice');

/** As READ_STEP, with the locations of the contents that may be copied. */
export const READ_STEP_WITH_CONTENTS = readStep(
  `${HISTORY_ENTRY}, content_ordinal, content_bytes`,
  `(SELECT ${Object.keys(HISTORY_COLUMNS).join(', ')} FROM slice)`,
  `,
  (SELECT json_agg(json_build_object('workspaceId', workspace_id, 'accountId', account_id, 'id', id, 'createdAt', created_at,
     'userId', user_id, 'transaction', log_transaction::text, 'ordinal', content_ordinal, 'bytes', content_bytes))
   FROM slice
   WHERE content_bytes > 0
     AND NOT EXISTS (SELECT FROM workspaces WHERE workspaces.id = slice.workspace_id AND deleted_at IS NOT NULL)
     AND NOT ${isPrivate('slice.workspace_id', "(slice.created_at || '+00')::timestamptz")}) AS contents`,
);

/**
 * The workspaces whose contents are to be erased next. In the hour after a deletion a step that was read before it ends, and
 * clocks of processes may differ.
 */
export const READ_ERASABLE = `
SELECT workspace.id, workspace.deleted_at AS "deletedAt" FROM history_copy, workspaces AS workspace
WHERE workspace.deleted_at > coalesce(erased_until, '-infinity') AND workspace.deleted_at < now() - interval '1 hour'
ORDER BY workspace.deleted_at FETCH FIRST 500 ROWS WITH TIES`;

/** $1 process, $2 the deletion of the last workspace. */
export const NOTE_ERASED = 'UPDATE history_copy SET erased_until = $2 WHERE owner = $1';

/** The last position that the copy has passed in the log of a workspace: one row, before every position if no process copies. */
export const passedByCopy = (workspace: string): string => `
SELECT coalesce(CASE WHEN is_inside THEN pass_transaction WHEN ${workspace} <= pass_workspace_id THEN pass_until - 1
    ELSE summed_before - 1 END, 0) AS transaction,
  CASE WHEN is_inside THEN pass_ordinal ELSE ${END_OF_TRANSACTION} END AS ordinal
FROM (SELECT 1) AS always
LEFT JOIN history_copy ON true
CROSS JOIN LATERAL (SELECT ${workspace} = pass_workspace_id AND pass_transaction < pass_until AS is_inside) AS pass`;

/** $1 to $5 the cursor, $6 to $8 the one after the step, $9 whether the pass has ended, $10 process, $11 seconds. */
export const MOVE = `
UPDATE history_copy SET pass_workspace_id = $6, pass_transaction = $7, pass_ordinal = $8,
  summed_before = CASE WHEN $9::boolean THEN pass_until ELSE summed_before END,
  leased_until = now() + make_interval(secs => $11), renewed_at = now()
WHERE summed_before = $1 AND pass_until = $2 AND pass_workspace_id = $3 AND pass_transaction = $4 AND pass_ordinal = $5
  AND owner = $10
RETURNING ${CURSOR}`;

/** One row. The cursor is null while nothing is copied. The lag of a copy that never succeeded grows from its first attempt. */
export const READ_STATE = `
SELECT ${CURSOR}, dropped_before AS "droppedBefore",
  extract(epoch FROM now() - coalesce(copied_until, marked_at, begun_at))::float8 AS lag
FROM log_begin LEFT JOIN history_copy ON true`;

/** The cursor of a service that keeps no history any more must not hold the retention back. */
export const FORGET_UNUSED = "DELETE FROM history_copy WHERE renewed_at < now() - interval '1 day'";
