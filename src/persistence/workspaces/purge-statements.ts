// The statements that remove rows whose retention is over, of tables without partitions.
//
// Why plain SQL: each removes a bounded number of rows, and skips those that another process is removing.

// Rows that one statement removes: a backlog is removed in steps, so that locks are short.
export const PURGE_STEP = 500;
export const TABLES_WITH_DELETED_ROWS = ['destinations', 'provider_credentials', 'api_keys'] as const;

/** $1 a moment. Skips rows that another process is removing. */
export const removeFrom = (table: (typeof TABLES_WITH_DELETED_ROWS)[number]): string => `
DELETE FROM ${table} AS purged USING (
  SELECT workspace_id, id FROM ${table} WHERE deleted_at < $1 ORDER BY deleted_at LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.workspace_id = old.workspace_id AND purged.id = old.id
RETURNING 1`;

/** $1 a moment. For tables that no row refers to. */
export const removeOlder = (table: string, time: string): string => `
DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM ${table} WHERE ${time} < $1 ORDER BY ${time} LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
)) RETURNING 1`;

/** $1 a moment: days whose contents have all expired. */
export const REMOVE_STORAGE_DAYS = `
DELETE FROM storage_days AS purged USING (
  SELECT workspace_id, day FROM storage_days WHERE day < ($1::timestamptz AT TIME ZONE 'UTC')::date - 2
  ORDER BY day LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.workspace_id = old.workspace_id AND purged.day = old.day
RETURNING 1`;

/** $1 a moment. */
export const REMOVE_AUDIT_ENTRIES = `
WITH permitted AS MATERIALIZED (SELECT set_config('signalbox.audit_retention', 'on', true)),
old AS MATERIALIZED (
  SELECT account_id, id FROM audit_log, permitted
  WHERE created_at < $1 ORDER BY created_at LIMIT ${PURGE_STEP} FOR UPDATE OF audit_log SKIP LOCKED
)
DELETE FROM audit_log AS purged USING old
WHERE purged.account_id = old.account_id AND purged.id = old.id
RETURNING 1`;

/** $1 a moment. */
export const REMOVE_NOTIFICATION_EVENTS = `
DELETE FROM notification_events AS purged USING (
  SELECT account_id, id FROM notification_events WHERE created_at < $1
  ORDER BY created_at LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
) AS old
WHERE purged.account_id = old.account_id AND purged.id = old.id
RETURNING 1`;

/** $1 a moment. */
export const REMOVE_RETIRED_SECRETS = `
DELETE FROM retired_secrets WHERE secret_hash IN (
  SELECT secret_hash FROM retired_secrets WHERE retired_at < $1 ORDER BY retired_at LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
)
RETURNING 1`;

/** $1 a moment. A sign-in removes some as well, but there may be none. */
export const REMOVE_SESSIONS = `
DELETE FROM console_sessions WHERE id_hash IN (
  SELECT id_hash FROM console_sessions WHERE ends_at <= $1 ORDER BY ends_at LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
)
RETURNING 1`;
