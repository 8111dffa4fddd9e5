// The statements of refused calls.
//
// Why plain SQL: one statement adds a batch of counts to the sums by minute and by hour, or to none; and the list of keys
// reads the refusals of a whole page at once.
import { NEWEST_REFUSALS } from '../../domain/keys/refusal.js';
import { PURGE_STEP, removeOlder } from '../workspaces/purge-statements.js';

/** Later minutes are complete; both tables have what happens now. */
export const READABLE_MINUTE_HOURS = 2;
/** Later than that, for processes whose clocks differ. */
export const KEPT_MINUTE_HOURS = 3;
/** Days of the sums by hour, as those of analytics. */
export const KEPT_HOUR_DAYS = 101;
/** Days of refusals one by one. */
export const KEPT_DAYS = 30;

const COLUMNS = 'workspace_id, api_key_id, period, reason, refusals, first_at, last_at';

// In the order of the key, so that processes wait for each other instead of deadlocking.
const addTo = (table: string, rows: string): string => `
INSERT INTO ${table} AS stored (${COLUMNS})
${rows} ORDER BY 1, 2, 3, 4
ON CONFLICT (workspace_id, api_key_id, period, reason) DO UPDATE SET refusals = stored.refusals + excluded.refusals,
  first_at = least(stored.first_at, excluded.first_at), last_at = greatest(stored.last_at, excluded.last_at)`;

/** $1 counts as JSON. */
export const RECORD_REFUSALS = `
WITH given AS (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS given ("workspaceId" uuid, "apiKeyId" uuid, minute timestamptz,
    reason text, refusals bigint, "firstAt" timestamptz, "lastAt" timestamptz)
), minutes AS (${addTo(
  'refusal_minutes',
  'SELECT "workspaceId", "apiKeyId", minute, reason, refusals, "firstAt", "lastAt" FROM given',
)}
)${addTo(
  'refusal_hours',
  `SELECT "workspaceId", "apiKeyId", date_trunc('hour', minute, 'UTC'), reason, sum(refusals), min("firstAt"),
  max("lastAt") FROM given GROUP BY 1, 2, 3, 4`,
)}`;

/** $1 refusals as JSON. */
export const RECORD_NEWEST_REFUSALS = `
INSERT INTO refusals (account_id, id, workspace_id, api_key_id, created_at, reason, request_id, message, limit_window,
  limit_amount, needed_amount, left_amount, resets_at, affordable_tokens)
SELECT "accountId", id, "workspaceId", "apiKeyId", "createdAt", reason, "requestId", message, "window", "limit", needed,
  "left", "resetsAt", "affordableTokens"
FROM jsonb_to_recordset($1::jsonb) AS given ("accountId" uuid, id uuid, "workspaceId" uuid, "apiKeyId" uuid,
  "createdAt" timestamptz, reason text, "requestId" text, message text, "window" text, "limit" numeric, needed numeric,
  "left" numeric, "resetsAt" timestamptz, "affordableTokens" integer)
ON CONFLICT DO NOTHING`;

/** $1 accounts. Rows that another process is removing are skipped. */
export const REMOVE_OLDER_REFUSALS = `
DELETE FROM refusals AS removed USING (
  SELECT account.id AS account_id, older.id FROM unnest($1::uuid[]) AS account (id)
  CROSS JOIN LATERAL (
    SELECT refusals.id FROM refusals WHERE account_id = account.id
    ORDER BY refusals.id DESC OFFSET ${NEWEST_REFUSALS} LIMIT ${PURGE_STEP} FOR UPDATE SKIP LOCKED
  ) AS older
) AS old
WHERE removed.account_id = old.account_id AND removed.id = old.id`;

/** $1 account, $2 workspaces, $3 a key or null, $4 a reason or null, $5 a maximum, $6 keys beside the workspaces. Of the newest of the account. */
export const LIST_REFUSALS = `
SELECT id, workspace_id AS "workspaceId", api_key_id AS "apiKeyId", created_at AS "createdAt", reason,
  request_id AS "requestId", message, limit_window AS "window", limit_amount::text AS "limit",
  needed_amount::text AS needed, left_amount::text AS "left", resets_at AS "resetsAt",
  affordable_tokens AS "affordableTokens"
FROM (SELECT * FROM refusals WHERE account_id = $1 ORDER BY id DESC LIMIT ${NEWEST_REFUSALS}) AS newest
WHERE (workspace_id = ANY($2::uuid[]) OR api_key_id = ANY($6::uuid[])) AND ($3::uuid IS NULL OR api_key_id = $3)
  AND ($4::text IS NULL OR reason = $4)
ORDER BY id DESC LIMIT $5`;

/** The refusals of a key in the last day as JSON, or null, from SQL for its workspace, its id and the present time. */
export function selectRefusals(workspaceId: string, keyId: string, now: string): string {
  const since = (table: string, begin: string): string =>
    `FROM ${table} WHERE workspace_id = ${workspaceId} AND api_key_id = ${keyId} AND period >= ${begin}`;
  return `(
  SELECT json_build_object('lastDay', sum(refusals), 'since', min(first_at), 'lastAt', max(last_at),
    'lastReason', (array_agg(reason ORDER BY last_at DESC))[1],
    'lastHour', (SELECT coalesce(sum(refusals), 0)
      ${since('refusal_minutes', `date_trunc('minute', ${now}::timestamptz, 'UTC') - interval '59 minutes'`)}))
  ${since('refusal_hours', `date_trunc('hour', ${now}::timestamptz, 'UTC') - interval '23 hours'`)}
  HAVING count(*) > 0
)`;
}

/** $1 workspaces, $2 their keys, $3 the present time. */
export const REFUSALS_OF_KEYS = `
SELECT key.id, ${selectRefusals('key.workspace_id', 'key.id', '$3')} AS refusals
FROM unnest($1::uuid[], $2::uuid[]) AS key (workspace_id, id)`;

/** $1 a moment. */
export const REMOVE_REFUSAL_MINUTES = removeOlder('refusal_minutes', 'period');
export const REMOVE_REFUSAL_HOURS = removeOlder('refusal_hours', 'period');
export const REMOVE_REFUSALS = removeOlder('refusals', 'created_at');
