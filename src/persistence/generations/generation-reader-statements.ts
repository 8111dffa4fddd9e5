// The statements that read the log in the order of commit, and stored contents.
//
// Why plain SQL: positions and snapshots of the log, and one round trip for many rows.
import { LOG_OFFSET } from '../database/log-offset.js';
import { opaqueArray } from '../database/rows/record-rows.js';
import { GENERATION_COLUMNS } from './generation-row.js';

const POSITION_COLUMNS = { logTransaction: 'log_transaction', logOrdinal: 'log_ordinal' };
const COLUMNS = Object.entries({ ...GENERATION_COLUMNS, ...POSITION_COLUMNS })
  .map(([member, column]) => `generation.${column} AS "${member}"`)
  .join(', ');

// For rows of versions without blocks.
const BYTES_OF_OWN_ROW = `
SELECT octet_length(content.ciphertext) FROM generation_contents AS content
WHERE content.workspace_id = generation.workspace_id AND content.created_at = generation.created_at
  AND content.generation_id = generation.id`;

const SELECT = `
SELECT ${COLUMNS}, coalesce(generation.content_ordinal, generation.log_ordinal) AS "contentOrdinal",
  coalesce(generation.content_bytes, (${BYTES_OF_OWN_ROW}), 0) AS "contentBytes",
  (SELECT pg_current_snapshot()::text) AS snapshot, ${LOG_OFFSET} AS "logOffset"
FROM generations AS generation`;

/**
 * Transaction numbers become visible out of order: a reader that used `> cursor` alone would skip rows that an older
 * transaction commits later. So only transactions older than every open one are read
 * (docs/decisions/0005-broadcast.md). The snapshot is the statement's own. The bound on created_at lets PostgreSQL
 * skip older partitions.
 */
export const READ_PAGE = `${SELECT}
WHERE generation.workspace_id = $1 AND (generation.log_transaction, generation.log_ordinal) > ($2, $3)
  AND generation.created_at >= $4
ORDER BY generation.log_transaction, generation.log_ordinal LIMIT $5`;

/**
 * Snapshots contain the transactions of the whole server; those of its other databases cannot append here. A
 * transaction whose number this role may not see holds reading back until it ends, and no row is lost.
 */
export const FOREIGN_TRANSACTIONS = `
SELECT backend_xid::text AS id FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND datname <> current_database()`;

// Each row by an index: for two lists the planner would combine two bitmaps, one of them over all rows of the
// workspace. $4 and $5, the bounds of all times, exclude partitions.
export const READ_NAMED = `
SELECT found.* FROM unnest(${opaqueArray('$2', 'timestamptz')}, ${opaqueArray('$3', 'uuid')}) AS named (created_at, id)
CROSS JOIN LATERAL (
  ${SELECT} WHERE generation.workspace_id = $1 AND generation.created_at = named.created_at AND generation.id = named.id
    AND generation.created_at BETWEEN $4 AND $5 LIMIT 1
) AS found`;

export const READ_BLOCKS = `
SELECT found.* FROM unnest(${opaqueArray('$2', 'bigint')}, ${opaqueArray('$3', 'integer')}) AS place (transaction, ordinal)
CROSS JOIN LATERAL (
  SELECT place.transaction::text AS transaction, place.ordinal, generation_id AS "generationId",
    generation_ids IS NOT NULL AS "isShared", ciphertext, encryption_key_id AS "encryptionKeyId"
  FROM generation_contents AS content
  WHERE content.workspace_id = $1 AND content.log_transaction = place.transaction AND content.log_ordinal = place.ordinal LIMIT 1
) AS found`;
