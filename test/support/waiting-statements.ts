// Statements of the application under test that wait for a lock which the test holds.
import { eventually } from './eventually.js';

/** Of the rows of pg_stat_activity. */
export const WAITS_FOR_LOCK = "datname = current_database() AND wait_event_type = 'Lock'";

/** Resolves when one waits in the database that `sql` asks. */
export async function untilSomebodyWaits(database: {
  sql(text: string): Promise<readonly unknown[]>;
}): Promise<void> {
  await eventually(
    () => database.sql(`SELECT FROM pg_stat_activity WHERE ${WAITS_FOR_LOCK}`),
    (waiting) => waiting.length > 0,
  );
}
