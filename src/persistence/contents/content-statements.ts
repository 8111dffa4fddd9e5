// The statements that remove stored contents.
//
// Why plain SQL: contents are chosen by the positions of all their readers and removed in one snapshot.
import { isPrivate, passedByCopy } from '../history/history-copy-statements.js';

// Rows that one statement removes: a backlog is removed in steps, so that locks are short.
export const REMOVAL_STEP = 5_000;
// The highest transaction: without a destination, all contents are passed.
const END_OF_LOG = 2n ** 63n - 1n;

/**
 * Subtracts the bytes of removed contents from the days of their storage. A sum is negative for a moment if a process
 * has not added its bytes yet. Returns the number of removed rows. `lost`: the number of a row's contents that the
 * history never gets.
 */
const removing = (statement: string, lost = '0'): string => `
WITH removed AS (${statement}
RETURNING content.workspace_id, (content.created_at AT TIME ZONE 'UTC')::date AS day,
  octet_length(content.ciphertext) AS bytes, ${lost} AS lost
), subtracted AS (
  INSERT INTO storage_days AS stored (workspace_id, day, content_bytes)
  SELECT workspace_id, day, -sum(bytes) FROM removed GROUP BY workspace_id, day ORDER BY workspace_id, day
  ON CONFLICT (workspace_id, day) DO UPDATE SET content_bytes = stored.content_bytes + excluded.content_bytes
)
SELECT count(*)::integer AS count, coalesce(sum(lost), 0)::integer AS lost FROM removed`;

/** The position of the reader of contents that is furthest behind in the workspace; no row: none reads them. */
const FURTHEST_DESTINATION = `
    SELECT cursor.log_transaction AS transaction, cursor.log_ordinal AS ordinal FROM delivery_cursors AS cursor
    JOIN destinations AS destination
      ON destination.workspace_id = cursor.workspace_id AND destination.id = cursor.destination_id
    JOIN workspaces AS workspace ON workspace.id = cursor.workspace_id
    WHERE cursor.workspace_id = due.workspace_id AND destination.enabled AND destination.deleted_at IS NULL
      AND destination.needs_content AND workspace.is_broadcast_enabled
    ORDER BY cursor.log_transaction, cursor.log_ordinal LIMIT 1`;
const FURTHEST_READER = `
    SELECT reader.* FROM (
      (${FURTHEST_DESTINATION})
      UNION ALL
      SELECT copy.* FROM (${passedByCopy('due.workspace_id')}) AS copy WHERE NOT ${isPrivate('due.workspace_id')}
    ) AS reader ORDER BY reader.transaction, reader.ordinal LIMIT 1`;

/**
 * $1 workspaces. Contents that a dead letter still needs stay. One statement, and so one snapshot: a destination that
 * is created at the same time keeps the contents of its calls.
 */
const removePassed = (furthest: string, order = ''): string =>
  removing(`
DELETE FROM generation_contents AS content USING (
  SELECT passed.* FROM unnest($1::uuid[]) AS due (workspace_id)
  LEFT JOIN LATERAL (${furthest}
  ) AS behind ON true
  CROSS JOIN LATERAL (
    SELECT workspace_id, created_at, generation_id FROM generation_contents AS stored
    WHERE stored.workspace_id = due.workspace_id AND (log_transaction, log_ordinal) <= (
      coalesce(behind.transaction, ${END_OF_LOG}), coalesce(behind.ordinal, 0)
    ) AND NOT EXISTS (
      SELECT 1 FROM dead_letters AS letter
      WHERE letter.workspace_id = stored.workspace_id AND NOT letter.is_delivered
        AND letter.generation_id = ANY(coalesce(stored.generation_ids, ARRAY[stored.generation_id]))
    )${order} LIMIT ${REMOVAL_STEP}
  ) AS passed LIMIT ${REMOVAL_STEP}
) AS passed
WHERE content.workspace_id = passed.workspace_id AND content.created_at = passed.created_at
  AND content.generation_id = passed.generation_id`);

/** $1 a moment. */
const OLDER = `
  SELECT workspace_id, created_at, generation_id FROM generation_contents WHERE created_at < $1 LIMIT ${REMOVAL_STEP}`;
const removeOlder = (older: string, lost?: string): string =>
  removing(
    `
DELETE FROM generation_contents AS content USING (${older}
) AS old
WHERE content.workspace_id = old.workspace_id AND content.created_at = old.created_at
  AND content.generation_id = old.generation_id`,
    lost,
  );

export const WITHOUT_HISTORY = {
  removePassed: removePassed(FURTHEST_DESTINATION),
  removeOlder: removeOlder(OLDER),
};
export const WITH_HISTORY = {
  // By the order of the index none of many contents is read that waits for a copy that is late.
  removePassed: removePassed(FURTHEST_READER, ' ORDER BY log_transaction, log_ordinal'),
  removeOlder: removeOlder(
    `
  SELECT older.*, copy.transaction, copy.ordinal, ${isPrivate('older.workspace_id', 'older.created_at')} AS is_private
  FROM (${OLDER}
  ) AS older CROSS JOIN LATERAL (${passedByCopy('older.workspace_id')}) AS copy`,
    `CASE WHEN (content.log_transaction, content.log_ordinal) > (old.transaction, old.ordinal) AND NOT old.is_private
    THEN coalesce(cardinality(content.generation_ids), 1) ELSE 0 END`,
  ),
};
