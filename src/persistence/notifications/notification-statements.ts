// The statements that find reached thresholds, report each once, and deliver the reports.
//
// Why plain SQL: a mark and its event, a lease and its queue are decided and written under one lock, in one statement.
// All times are the database's own, so that clocks need not agree.
import { spendOf } from '../spend/spend-policy-statements.js';
import { isLeaseFree } from '../database/sessions.js';
import { LOG_HORIZON } from '../database/log-offset.js';
import { opaqueArray } from '../database/rows/record-rows.js';

/** Seconds. A process that no longer answers holds up others for as long; one that was killed does not. */
const SCAN_LEASE_SECONDS = 120;
const QUEUE_LEASE_SECONDS = 60;

/**
 * $1 claim, $2 its session, $3 seconds since the last scan of any process, $4 the maximum of transactions to read. No
 * row: another process scans, or has scanned. Only transactions that are older than every open one: their rows are all
 * visible.
 */
export const BEGIN_SCAN = `
UPDATE notification_scan SET claimed_by = $1, claimed_session = $2,
  claimed_until = now() + make_interval(secs => ${SCAN_LEASE_SECONDS})
WHERE ${isLeaseFree('claimed_session', 'claimed_until')} AND ended_at <= now() - make_interval(secs => $3)
RETURNING scanned_before AS from, greatest(scanned_before, ${LOG_HORIZON}) AS until,
  ${LOG_HORIZON} - scanned_before > $4::bigint AS "isBehind"`;

/** $1 claim, $2 the position that the scan has reached. */
export const END_SCAN = `
UPDATE notification_scan SET scanned_before = $2, claimed_by = NULL, claimed_until = '-infinity', ended_at = now()
WHERE claimed_by = $1`;

/** $1 claim. The pause between scans begins, so that processes do not all repeat a scan that fails. */
export const RELEASE_SCAN = `
UPDATE notification_scan SET claimed_by = NULL, claimed_until = '-infinity', ended_at = now() WHERE claimed_by = $1`;

/** $1 and $2 an account and a workspace, $3 a maximum: the next workspaces that enabled rules watch. */
export const LIST_WATCHED = `
SELECT rule.account_id AS "accountId", watched.id AS "workspaceId"
FROM (SELECT DISTINCT account_id FROM notification_rules WHERE enabled AND account_id >= $1) AS rule
CROSS JOIN LATERAL (
  SELECT workspace.id FROM workspaces AS workspace
  WHERE workspace.account_id = rule.account_id AND (workspace.account_id, workspace.id) > ($1, $2)
    AND workspace.deleted_at IS NULL AND EXISTS (
      SELECT FROM notification_rules AS one WHERE one.account_id = workspace.account_id AND one.enabled
        AND (one.workspace_id IS NULL OR one.workspace_id = workspace.id)
    )
  ORDER BY workspace.id LIMIT $3
) AS watched
ORDER BY rule.account_id, watched.id LIMIT $3`;

/** $1 workspaces, $2 and $3 positions of the log, $4 a moment: the keys that were called between them, and since then. */
export const LIST_CALLED = `
SELECT watched.workspace_id AS "workspaceId", called.api_key_id AS "apiKeyId"
FROM unnest(${opaqueArray('$1', 'uuid')}) AS watched (workspace_id) CROSS JOIN LATERAL (
  SELECT DISTINCT api_key_id FROM generations
  WHERE workspace_id = watched.workspace_id AND log_transaction >= $2 AND log_transaction < $3 AND created_at >= $4
) AS called`;

/** $1 workspace, $2 a key, $3 a day, $4 a maximum: the next keys that have spent something since then. */
export const LIST_SPENDING = `
SELECT workspace_id AS "workspaceId", api_key_id AS "apiKeyId" FROM key_spend
WHERE workspace_id = $1 AND api_key_id > $2 AND last_day >= $3::date ORDER BY api_key_id LIMIT $4`;

/** $1 workspaces and $2 keys, in pairs: the limits of keys. */
export const READ_KEYS = `
SELECT key.account_id AS "accountId", key.workspace_id AS "workspaceId", key.id, key.hash, key.name, key.label,
  key.limit_amount AS "limit", coalesce(key.limit_reset, 'total') AS window, key.include_byok_in_limit AS "includeByok",
  ${spendOf('spend')} AS spend
FROM unnest(${opaqueArray('$1', 'uuid')}, ${opaqueArray('$2', 'uuid')}) AS called (workspace_id, api_key_id)
JOIN api_keys AS key ON key.workspace_id = called.workspace_id AND key.id = called.api_key_id
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
WHERE key.limit_amount IS NOT NULL AND key.deleted_at IS NULL`;

/** $1 workspaces: their budgets. */
export const READ_BUDGETS = `
SELECT workspace.account_id AS "accountId", workspace.id AS "workspaceId", workspace.id, workspace.name,
  workspace.slug, budget.limit_amount AS "limit",
  CASE budget.interval WHEN 'lifetime' THEN 'total' ELSE budget.interval END AS window,
  workspace.include_byok_in_budgets AS "includeByok", ${spendOf('spend')} AS spend
FROM unnest(${opaqueArray('$1', 'uuid')}) AS called (workspace_id)
JOIN workspaces AS workspace ON workspace.id = called.workspace_id
JOIN workspace_budgets AS budget ON budget.workspace_id = workspace.id
LEFT JOIN workspace_spend AS spend ON spend.workspace_id = workspace.id
WHERE workspace.deleted_at IS NULL`;

/** $1 accounts: their credits. */
export const READ_CREDITS = `
SELECT account.id AS "accountId", NULL AS "workspaceId", account.id, account.credits AS "limit", 'total' AS window,
  false AS "includeByok", ${spendOf('spend', 'account_id')} AS spend
FROM unnest(${opaqueArray('$1', 'uuid')}) AS called (account_id)
JOIN accounts AS account ON account.id = called.account_id
LEFT JOIN account_spend AS spend ON spend.account_id = account.id
WHERE account.credits IS NOT NULL`;

/** The columns of a crossing, as json_to_recordset reads them. */
const CROSSING_COLUMNS = `position integer, account_id uuid, rule_id uuid, subject_id uuid, "interval" text,
    window_start timestamptz, limit_amount numeric, threshold integer, workspace_id uuid, api_key_id uuid`;

/**
 * $1 crossings. Marks those above the mark of their window, or of a newer window, and returns their positions. A lifetime
 * has no calendar: a limit above the highest one so far begins a new window. Rules that were disabled or deleted mark
 * nothing.
 */
export const MARK_CROSSINGS = `
WITH crossed AS MATERIALIZED (
  SELECT one.* FROM json_to_recordset($1::json) AS one (${CROSSING_COLUMNS})
  CROSS JOIN LATERAL (
    SELECT FROM notification_rules AS rule
    WHERE rule.account_id = one.account_id AND rule.id = one.rule_id AND rule.enabled FOR KEY SHARE
  ) AS rule
), marked AS (
  INSERT INTO notification_marks AS mark (account_id, rule_id, subject_id, "interval", window_start, limit_amount,
    threshold, workspace_id, api_key_id)
  SELECT account_id, rule_id, subject_id, "interval", window_start, limit_amount, threshold, workspace_id, api_key_id
  FROM crossed ORDER BY account_id, rule_id, subject_id, "interval"
  ON CONFLICT (account_id, rule_id, subject_id, "interval") DO UPDATE SET
    window_start = excluded.window_start, threshold = excluded.threshold,
    limit_amount = CASE WHEN excluded.window_start > mark.window_start THEN excluded.limit_amount
      ELSE greatest(mark.limit_amount, excluded.limit_amount) END
  WHERE excluded.window_start > mark.window_start OR (excluded.window_start = mark.window_start AND (
    excluded.threshold > mark.threshold
    OR (mark."interval" = 'lifetime' AND excluded.limit_amount > mark.limit_amount)
  ))
  RETURNING account_id, rule_id, subject_id, "interval"
)
SELECT position FROM crossed JOIN marked USING (account_id, rule_id, subject_id, "interval") ORDER BY position`;

/** $1 a maximum: accounts in which something was left out on a day that is over. */
export const LIST_LEFT_OUT = `
SELECT DISTINCT account_id AS "accountId" FROM (
  SELECT account_id FROM notification_queues
  WHERE left_out > 0 AND counted_on < (now() AT TIME ZONE 'UTC')::date ORDER BY counted_on LIMIT $1
) AS queue`;

/** $1 accounts: what their rules have reported today. Holds the rules and their queues until the transaction ends. */
export const LOCK_REPORTED = `
SELECT queue.account_id AS "accountId", queue.rule_id AS "ruleId", queue.counted_on::text AS "countedOn",
  (now() AT TIME ZONE 'UTC')::date::text AS today, queue.reported_keys AS "reportedKeys",
  queue.reported_others AS "reportedOthers", queue.left_out AS "leftOut"
FROM notification_queues AS queue
JOIN notification_rules AS rule ON rule.account_id = queue.account_id AND rule.id = queue.rule_id
WHERE queue.account_id = ANY($1::uuid[]) ORDER BY queue.account_id, queue.rule_id
FOR KEY SHARE OF rule FOR UPDATE OF queue`;

/** $1 events, $2 hours until they expire, $3 what rules have reported today. Queues the events. */
export const APPEND_EVENTS = `
WITH event AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::json)
    AS one ("accountId" uuid, id uuid, "ruleId" uuid, payload text, "createdAt" timestamptz)
), appended AS (
  INSERT INTO notification_events (account_id, id, rule_id, payload, created_at, expires_at)
  SELECT "accountId", id, "ruleId", payload, "createdAt", now() + make_interval(hours => $2) FROM event
)
UPDATE notification_queues AS queue SET counted_on = day."countedOn", reported_keys = day."reportedKeys",
  reported_others = day."reportedOthers", left_out = day."leftOut",
  next_attempt_at = CASE WHEN queue.rule_id IN (SELECT "ruleId" FROM event) THEN coalesce(queue.next_attempt_at, now())
    ELSE queue.next_attempt_at END
FROM json_to_recordset($3::json) AS day ("accountId" uuid, "ruleId" uuid, "countedOn" date, "reportedKeys" integer,
  "reportedOthers" integer, "leftOut" integer)
WHERE queue.account_id = day."accountId" AND queue.rule_id = day."ruleId"`;

/**
 * $1 claim, $2 its session, $3 a maximum, $4 accounts that have enough deliveries in flight. Claims one queue of an
 * account at a time, so that no account takes all claims.
 */
export const CLAIM_QUEUES = `
WITH due AS (
  SELECT DISTINCT ON (account_id) account_id, rule_id, next_attempt_at FROM notification_queues
  WHERE next_attempt_at <= now() AND ${isLeaseFree('lease_session', 'lease_expires_at')}
    AND account_id <> ALL($4::uuid[])
  ORDER BY account_id, next_attempt_at
), chosen AS (
  SELECT queue.account_id, queue.rule_id FROM notification_queues AS queue JOIN due USING (account_id, rule_id)
  WHERE queue.next_attempt_at <= now() AND ${isLeaseFree('queue.lease_session', 'queue.lease_expires_at')}
  ORDER BY due.next_attempt_at LIMIT $3 FOR UPDATE OF queue SKIP LOCKED
)
UPDATE notification_queues AS queue
SET lease_owner = $1, lease_session = $2, lease_expires_at = now() + make_interval(secs => ${QUEUE_LEASE_SECONDS})
FROM chosen WHERE queue.account_id = chosen.account_id AND queue.rule_id = chosen.rule_id
RETURNING queue.account_id AS "accountId", queue.rule_id AS "ruleId", queue.failures`;

/** $1 account, $2 rule: the oldest pending event. */
export const READ_NEXT_EVENT = `
SELECT id, payload, expires_at <= now() AS "isExpired" FROM notification_events
WHERE account_id = $1 AND rule_id = $2 AND state = 'pending' ORDER BY id LIMIT 1`;

const CLAIMED = 'account_id = $1 AND rule_id = $2 AND lease_owner = $3';

/**
 * $1 account, $2 rule, $3 claim, $4 event, $5 its final state, $6 status, $7 error, $8 whether it was sent. Renews the
 * lease. No row: the claim was lost, or the rule is gone.
 */
export const CONCLUDE_EVENT = `
WITH claimed AS (
  UPDATE notification_queues SET lease_expires_at = now() + make_interval(secs => ${QUEUE_LEASE_SECONDS}),
    failures = CASE WHEN $8::boolean THEN 0 ELSE failures END
  WHERE ${CLAIMED} RETURNING account_id
)
UPDATE notification_events AS event SET state = $5, attempts = attempts + $8::boolean::integer,
  last_status = CASE WHEN $8::boolean THEN $6::integer ELSE last_status END, last_error = $7, concluded_at = now()
FROM claimed WHERE event.account_id = claimed.account_id AND event.id = $4 AND event.state = 'pending' RETURNING 1`;

/** $1 account, $2 rule, $3 claim, $4 event, $5 status, $6 error, $7 milliseconds until the next attempt. */
export const FAIL_EVENT = `
WITH failed AS (
  UPDATE notification_queues SET failures = failures + 1, lease_owner = NULL, lease_expires_at = NULL,
    next_attempt_at = now() + make_interval(secs => $7::float8 / 1000)
  WHERE ${CLAIMED} RETURNING account_id
)
UPDATE notification_events AS event SET attempts = attempts + 1, last_status = $5, last_error = $6
FROM failed WHERE event.account_id = failed.account_id AND event.id = $4`;

/** $1 account, $2 rule, $3 claim. Locks the queue: RELEASE_QUEUE then sees the events of all earlier reports. */
export const LOCK_QUEUE = `SELECT 1 FROM notification_queues WHERE ${CLAIMED} FOR UPDATE`;

/** $1 account, $2 rule, $3 claim. Pending events of an enabled rule are due at once. */
export const RELEASE_QUEUE = `
UPDATE notification_queues AS queue SET lease_owner = NULL, lease_expires_at = NULL,
  next_attempt_at = CASE WHEN EXISTS (
    SELECT FROM notification_events AS event JOIN notification_rules AS rule
      ON rule.account_id = event.account_id AND rule.id = event.rule_id
    WHERE event.account_id = $1 AND event.rule_id = $2 AND event.state = 'pending' AND rule.enabled
  ) THEN now() END
WHERE ${CLAIMED}`;

/** $1 account, $2 rule, $3 hours until an event expires. Returns a row for each dead letter. */
export const REPLAY = `
WITH replayed AS (
  UPDATE notification_events SET state = 'pending', concluded_at = NULL, expires_at = now() + make_interval(hours => $3)
  WHERE account_id = $1 AND rule_id = $2 AND state = 'dead_letter' RETURNING account_id
), queued AS (
  UPDATE notification_queues SET next_attempt_at = now()
  WHERE account_id = $1 AND rule_id = $2 AND EXISTS (SELECT FROM replayed)
)
SELECT 1 FROM replayed`;

/** $1 a maximum. */
export const COUNT_PENDING = `
SELECT count(*)::integer AS pending FROM (SELECT FROM notification_events WHERE state = 'pending' LIMIT $1) AS counted`;
