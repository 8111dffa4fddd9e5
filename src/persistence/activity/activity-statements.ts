// The statements that sum the log for /activity, and those that read the sums.
//
// Why plain SQL: the sums of a step and the cursor must change in one statement, or a row of the log would be counted
// twice or never.
import { LOG_HORIZON } from '../generations/log-offset.js';

/** A position after every row of a workspace. */
const END_OF_WORKSPACE = '9223372036854775807, 2147483647';

const CURSOR = `summed_before AS "summedBefore", pass_until AS "passUntil", pass_workspace_id AS "workspaceId",
  pass_transaction AS transaction, pass_ordinal AS ordinal`;

export const READ_CURSOR = `SELECT ${CURSOR} FROM activity_rollup`;

/**
 * Transaction numbers become visible out of order. A pass therefore sums only transactions older than every one that
 * was open at its start; a later pass sums the rest, whatever day it belongs to.
 * $1 seconds that must have passed since the last pass of any process.
 */
export const BEGIN_PASS = `
UPDATE activity_rollup SET pass_until = ${LOG_HORIZON}, pass_workspace_id = DEFAULT, pass_transaction = DEFAULT,
  pass_ordinal = DEFAULT
WHERE pass_until = summed_before AND summed_before < ${LOG_HORIZON}
  AND pass_ended_at <= now() - make_interval(secs => $1)`;

const GROUP = 'workspace_id, day, model, endpoint, provider';
/** The same for a row of the log. */
const GROUP_OF_ENTRY = `workspace_id, (created_at AT TIME ZONE 'UTC')::date AS day, model,
      coalesce(endpoint, '') AS endpoint, coalesce(provider, '') AS provider`;
const SUMS_OF_ENTRY = `prompt_tokens, coalesce(cost, 0) AS usage,
      CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END AS byok_usage,
      coalesce(completion_tokens, 0) AS completion_tokens, coalesce(reasoning_tokens, 0) AS reasoning_tokens`;
const SUMS = ['requests', 'prompt_tokens', 'usage', 'byok_usage', 'completion_tokens', 'reasoning_tokens'];

function add(table: string, group: string): string {
  return `
INSERT INTO ${table} (${group}, ${SUMS.join(', ')})
SELECT ${group}, ${SUMS.map((column) => `sum(${column})`).join(', ')} FROM sums
WHERE EXISTS (SELECT FROM moved) GROUP BY ${group}
ON CONFLICT (${group}) DO UPDATE SET ${SUMS.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`;
}

/**
 * Settings of a step. The order of the index ends a step after its maximum of rows, whatever the backlog. A planner
 * that expects few rows would read all of them and sort, and its estimate of a backlog is wrong by far.
 */
export const STEP_SETTINGS = { enable_sort: 'off', statement_timeout: '10s' };

/**
 * $1 to $5 the cursor, $6 a moment (older rows are never queried), $7 workspaces and $8 rows at most. Returns the
 * cursor after the step, or no row when another process has moved it since. A step continues in the workspace where
 * the one before ended.
 */
export const TAKE_STEP = `
WITH page AS MATERIALIZED (
  SELECT id FROM workspaces WHERE id >= $3 ORDER BY id LIMIT $7
), slice AS MATERIALIZED (
  SELECT entry.* FROM page CROSS JOIN LATERAL (
    SELECT log_transaction, log_ordinal, api_key_id, ${GROUP_OF_ENTRY}, ${SUMS_OF_ENTRY} FROM generations
    WHERE workspace_id = page.id AND log_transaction < $2 AND created_at >= $6
      AND log_transaction >= CASE WHEN page.id = $3 THEN $4::bigint ELSE $1::bigint END
      AND (workspace_id, log_transaction, log_ordinal) > ($3, $4, $5)
    ORDER BY log_transaction, log_ordinal LIMIT $8
  ) AS entry
  ORDER BY page.id, entry.log_transaction, entry.log_ordinal LIMIT $8
), sums AS (
  SELECT api_key_id, ${GROUP}, count(*) AS requests, sum(prompt_tokens) AS prompt_tokens, sum(usage) AS usage,
    sum(byok_usage) AS byok_usage, sum(completion_tokens) AS completion_tokens, sum(reasoning_tokens) AS reasoning_tokens
  FROM slice GROUP BY api_key_id, ${GROUP}
), after_step AS (
  (SELECT workspace_id, log_transaction, log_ordinal, false AS is_last FROM slice
   WHERE (SELECT count(*) FROM slice) = $8
   ORDER BY workspace_id DESC, log_transaction DESC, log_ordinal DESC LIMIT 1)
  UNION ALL
  (SELECT id, ${END_OF_WORKSPACE}, (SELECT count(*) FROM page) < $7 FROM page
   WHERE (SELECT count(*) FROM slice) < $8 ORDER BY id DESC LIMIT 1)
  UNION ALL
  (SELECT $3, ${END_OF_WORKSPACE}, true WHERE NOT EXISTS (SELECT FROM page))
), moved AS (
  UPDATE activity_rollup SET pass_workspace_id = after_step.workspace_id, pass_transaction = after_step.log_transaction,
    pass_ordinal = after_step.log_ordinal,
    summed_before = CASE WHEN is_last THEN pass_until ELSE summed_before END,
    pass_ended_at = CASE WHEN is_last THEN date_trunc('milliseconds', now()) ELSE pass_ended_at END
  FROM after_step
  WHERE summed_before = $1 AND pass_until = $2 AND pass_workspace_id = $3 AND pass_transaction = $4 AND pass_ordinal = $5
  RETURNING ${CURSOR}
), added_to_days AS (${add('activity_days', GROUP)}
), added_to_key_days AS (${add('activity_key_days', `api_key_id, ${GROUP}`)}
)
SELECT * FROM moved`;

const sumUp = (workspace: 'workspace_id' | 'NULL::uuid') => `
SELECT day::text AS date, model, nullif(endpoint, '') AS endpoint, nullif(provider, '') AS provider,
  ${workspace} AS "workspaceId", sum(requests)::text AS requests, sum(prompt_tokens)::text AS "promptTokens",
  sum(usage)::text AS usage, sum(byok_usage)::text AS "byokUsage",
  sum(completion_tokens)::text AS "completionTokens", sum(reasoning_tokens)::text AS "reasoningTokens"
FROM (
  SELECT ${GROUP}, ${SUMS.join(', ')} FROM activity_days
  WHERE $4::uuid[] IS NULL AND workspace_id = ANY($1::uuid[]) AND day >= $2::date AND day < $3::date
  UNION ALL
  SELECT ${GROUP}, ${SUMS.join(', ')} FROM activity_key_days
  WHERE api_key_id = ANY($4::uuid[]) AND workspace_id = ANY($1::uuid[]) AND day >= $2::date AND day < $3::date
  UNION ALL
  SELECT ${GROUP_OF_ENTRY}, 1, ${SUMS_OF_ENTRY} FROM generations
  WHERE workspace_id = ANY($1::uuid[]) AND log_transaction >= $6
    AND (log_transaction >= $7 OR (workspace_id, log_transaction, log_ordinal) > ($8, $9, $10))
    AND created_at >= $2::date::timestamp AT TIME ZONE 'UTC' AND created_at < $3::date::timestamp AT TIME ZONE 'UTC'
    AND ($4::uuid[] IS NULL OR api_key_id = ANY($4::uuid[]))
) AS activity
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC, 2, 3, 4, 5 LIMIT $5`;

/**
 * $1 workspaces, $2 the first day, $3 the day after the last, $4 keys (null: all), $5 rows at most, $6 to $10 the
 * cursor of the rollup: rows after it are added from the log.
 */
export const SUM_UP = sumUp('NULL::uuid');
export const SUM_UP_BY_WORKSPACE = sumUp('workspace_id');
