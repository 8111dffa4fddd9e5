// Liveness of processes: each holds an advisory lock on its notification connection, and loses the lock when it dies.

// Distinguishes these locks from others. The number is arbitrary.
const LOCK_CLASS = 719_203_117;

/** $1 a session. Shared, so that a new connection never waits for the end of the lost one. */
export const HOLD_SESSION = `SELECT pg_advisory_lock_shared(${LOCK_CLASS}, $1)`;

/** The sessions of all live processes on this database. */
export const LIVE_SESSIONS = `
SELECT objid::bigint AS session FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCK_CLASS} AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
