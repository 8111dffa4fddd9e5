// Which processes live: each holds an advisory lock on its connection for notifications, and loses it with its life.

// Tells these locks from others. Any number will do.
const LOCK_CLASS = 719_203_117;

/** $1 a session. Shared, so that a connection made anew never waits for the end of the lost one. */
export const HOLD_SESSION = `SELECT pg_advisory_lock_shared(${LOCK_CLASS}, $1)`;

/** The sessions of all processes on this database that live. */
export const LIVE_SESSIONS = `
SELECT objid::bigint AS session FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCK_CLASS} AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
