// Liveness of processes: each holds an advisory lock on its notification connection, and loses the lock when it dies.

// Distinguishes these locks from others. The number is arbitrary.
const LOCK_CLASS = 719_203_117;

/** $1 a session. Shared, so that a new connection never waits for the end of the lost one. */
export const HOLD_SESSION = `SELECT pg_advisory_lock_shared(${LOCK_CLASS}, $1)`;

/** The sessions of all live processes on this database. */
export const LIVE_SESSIONS = `
SELECT objid::bigint AS session FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCK_CLASS} AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Whether a lease can be taken: it has expired, or its owner has died. Both are columns; without a session only the expiry
 * counts. A process that has lost its connection may still work, so the statements of the work name their claim. A spend
 * lease, whose money calls in flight may spend, also needs another process at the place of its own (lease-process.ts).
 */
export const isLeaseFree = (session: string, expiresAt: string): string => `(
    coalesce(${expiresAt}, '-infinity') <= now()
    OR (${session} IS NOT NULL AND ${session} NOT IN (${LIVE_SESSIONS}))
  )`;
