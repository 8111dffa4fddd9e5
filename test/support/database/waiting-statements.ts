// Statements of the application under test that wait for a lock which the test holds.
import pg from 'pg';
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import { eventually } from '../eventually.js';

/** A condition on the rows of pg_stat_activity. */
export const WAITS_FOR_LOCK = "datname = current_database() AND wait_event_type = 'Lock'";

interface AskedDatabase {
  sql(text: string): Promise<readonly unknown[]>;
}

/** Resolves when one waits in the database that `sql` asks. */
export async function untilLockWait(database: AskedDatabase): Promise<void> {
  await eventually(
    () => waitingIn(database),
    (waiting) => waiting.length > 0,
  );
}

/** Resolves when the database executes no statement and has no open transaction, of a killed process included. */
export async function untilNoneRuns(database: AskedDatabase): Promise<void> {
  await eventually(
    () =>
      database.sql(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND backend_type = 'client backend' AND state <> 'idle'`,
      ),
    (running) => running.length === 0,
  );
}

/** Resolves when exactly so many wait. */
export async function untilSoManyWait(database: AskedDatabase, count: number): Promise<void> {
  await eventually(
    () => waitingIn(database),
    (waiting) => waiting.length === count,
  );
}

const waitingIn = async (database: AskedDatabase) => {
  // A transaction that has looked before knows no later connection.
  await database.sql('SELECT pg_stat_clear_snapshot()');
  return database.sql(`SELECT FROM pg_stat_activity WHERE ${WAITS_FOR_LOCK}`);
};

/** Holds the counter of a key until the returned function is called. */
export async function holdCounter(
  { databaseUrl }: { readonly databaseUrl: string },
  { id }: Pick<ApiKey, 'id'>,
): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM key_spend WHERE api_key_id = $1 FOR UPDATE', [id]);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}
