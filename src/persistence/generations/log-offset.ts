// The log's own numbers: those of PostgreSQL's transactions plus an offset, which rises when the data comes to another
// server, so that a restored log goes on after everything that it holds (docs/decisions/0006-restore.md).
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { isUndefinedFunction } from '../database/database-errors.js';

/** What a transaction's number is raised by. A subquery of its own is read once in a statement, whatever its rows. */
export const LOG_OFFSET = '(SELECT value FROM log_offset)';

/** The number that the rows of this transaction stand under. */
export const LOG_TRANSACTION = '(SELECT pg_current_xact_id()::text::bigint + value FROM log_offset)';

/** The snapshot of the statement, in the log's numbers. */
export const LOG_SNAPSHOT = 'current_log_snapshot()';

/** Below it every transaction had ended: nothing more will come to stand there. */
export const horizonOf = (snapshot: string): string =>
  `pg_snapshot_xmin(${snapshot}::pg_snapshot)::text::bigint`;
export const LOG_HORIZON = horizonOf(LOG_SNAPSHOT);

/**
 * For every new connection, before it is used: a server can take another's place at any moment, and what is appended there
 * must not lie before what the log holds already. Two statements, since the second must not have read the offset before.
 */
export async function rebaseLog(client: pg.ClientBase): Promise<void> {
  try {
    const { rows } = await client.query<{ isCurrent: boolean }>('SELECT is_log_at_home() AS "isCurrent"');
    if (rows[0]?.isCurrent === true) return;
    const settled = await client.query<{ copied: boolean }>('SELECT settle_log() AS copied');
    if (settled.rows[0]?.copied === true) {
      new Logger('LogOffset').log('this database is a copy of another; the log goes on after what it holds');
    }
  } catch (error) {
    // A database without the migrations: the readiness check tells of it.
    if (!isUndefinedFunction(error)) throw error;
  }
}
