// The positions of the log: PostgreSQL's transaction numbers plus an offset. The offset rises when the data moves to
// another server, so that a restored log continues after all of its rows (docs/decisions/0006-restore.md).
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { isUndefinedFunction } from './database-errors.js';

/**
 * The offset of transaction numbers. PostgreSQL evaluates a separate subquery once per statement, whatever the number
 * of rows.
 */
export const LOG_OFFSET = '(SELECT value FROM log_offset)';

/** The number of this transaction's rows in the log. */
export const LOG_TRANSACTION = '(SELECT pg_current_xact_id()::text::bigint + value FROM log_offset)';

/** The snapshot of the statement, in positions of the log. */
export const LOG_SNAPSHOT = 'current_log_snapshot()';

/** All transactions below it have ended: no rows will be added there. */
export const horizonOf = (snapshot: string): string =>
  `pg_snapshot_xmin(${snapshot}::pg_snapshot)::text::bigint`;
export const LOG_HORIZON = horizonOf(LOG_SNAPSHOT);

/**
 * Runs on every new connection before its use: another server can take over at any moment, and its appends must not
 * precede existing rows of the log. Two statements, since the second must not have read the offset before.
 */
export async function rebaseLog(client: pg.ClientBase): Promise<void> {
  try {
    const { rows } = await client.query<{ isCurrent: boolean }>('SELECT is_log_at_home() AS "isCurrent"');
    if (rows[0]?.isCurrent === true) return;
    const settled = await client.query<{ copied: boolean }>('SELECT settle_log() AS copied');
    if (settled.rows[0]?.copied === true) {
      new Logger('LogOffset').log(
        'this database is a copy; the generation log continues after its last position',
      );
    }
  } catch (error) {
    // A database without the migrations: the readiness check reports it.
    if (!isUndefinedFunction(error)) throw error;
  }
}
