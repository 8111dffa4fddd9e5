// The statements that read the budgets of a workspace, that remove or disable the objects of a deleted one, and later the
// workspace itself.
//
// Why plain SQL: budgets and the spend that they are compared with come from one snapshot. And a workspace may have
// 100,000 keys, each with an entry in the audit log. Reading, describing and writing them one by one would exceed the
// time of one transaction.
import { recordEntryOfEach } from '../audit/audit-statements.js';
import { spendOf } from '../spend/spend-policy-statements.js';

/** $1 account, $2 workspace: at most one row for each interval. */
export const LIST_BUDGETS = `
SELECT budget.workspace_id AS "workspaceId", budget.interval, budget.limit_amount::text AS "limit",
  budget.created_at AS "createdAt", budget.updated_at AS "updatedAt",
  workspace.include_byok_in_budgets AS "includeByok", ${spendOf('spend')} AS spend
FROM workspaces AS workspace
JOIN workspace_budgets AS budget ON budget.workspace_id = workspace.id
LEFT JOIN workspace_spend AS spend ON spend.workspace_id = workspace.id
WHERE workspace.account_id = $1 AND workspace.id = $2 AND workspace.deleted_at IS NULL`;

const KEY = `'name', name, 'label', label, 'disabled'`;

/**
 * $1 the workspace, $2 the moment, $3 whether its inference keys are disabled, $4 the audit entry of the deletion as
 * JSON. Entries contain each object's name and its changed members.
 */
export const SWITCH_OFF_WORKSPACE = `
WITH keys AS (
  UPDATE api_keys SET disabled = true, updated_at = $2::timestamptz
  WHERE $3::boolean AND workspace_id = $1::uuid AND kind = 'inference' AND deleted_at IS NULL AND NOT disabled
  RETURNING hash, name, label
), destinations AS (
  UPDATE destinations SET slot = NULL, deleted_at = $2::timestamptz, version = version + 1
  WHERE workspace_id = $1::uuid AND deleted_at IS NULL
  RETURNING id, name, type, enabled
), credentials AS (
  UPDATE provider_credentials SET deleted_at = $2::timestamptz, ciphertext = ''
  WHERE workspace_id = $1::uuid AND deleted_at IS NULL
  RETURNING id, provider, name, label
), budgets AS (
  DELETE FROM workspace_budgets WHERE workspace_id = $1::uuid RETURNING interval, trim_scale(limit_amount) AS amount
), notifications AS (
  DELETE FROM notification_rules WHERE workspace_id = $1::uuid RETURNING id, name, enabled
), presets AS (
  DELETE FROM presets WHERE workspace_id = $1::uuid RETURNING id, slug, status
), guardrails AS (
  DELETE FROM guardrails WHERE workspace_id = $1::uuid RETURNING id, name
), changed ("objectType", "objectId", action, before, after) AS (
  SELECT 'api_key', hash::text, 'update', jsonb_build_object(${KEY}, false), jsonb_build_object(${KEY}, true) FROM keys
  UNION ALL
  SELECT 'destination', id::text, 'delete', jsonb_build_object('name', name, 'type', type, 'enabled', enabled), NULL
  FROM destinations
  UNION ALL
  SELECT 'provider_credential', id::text, 'delete',
    jsonb_build_object('provider', provider, 'name', name, 'label', label), NULL FROM credentials
  UNION ALL
  SELECT 'workspace_budget', interval, 'delete', jsonb_build_object('limit_usd', amount), NULL FROM budgets
  UNION ALL
  SELECT 'notification', id::text, 'delete', jsonb_build_object('name', name, 'enabled', enabled), NULL FROM notifications
  UNION ALL
  SELECT 'preset', id::text, 'delete', jsonb_build_object('slug', slug, 'status', status), NULL FROM presets
  UNION ALL
  SELECT 'guardrail', id::text, 'delete', jsonb_build_object('name', name), NULL FROM guardrails
)${recordEntryOfEach('$4', 'changed')}`;

/** $1 account, $2 a maximum. Deleted workspaces that are not purged yet, counted up to the maximum. */
export const COUNT_DELETED = `
SELECT count(*)::integer AS count FROM (
  SELECT FROM workspaces WHERE account_id = $1::uuid AND deleted_at IS NOT NULL LIMIT $2::bigint
) AS deleted`;

/**
 * $1 a moment, $2 a maximum. Workspaces that nothing refers to, neither a row nor the log. The look-up in the log runs for
 * each workspace that no row refers to: a join would read the log, and a look-up for every deleted workspace grows with
 * their number.
 */
const purgeWorkspaces = (condition: string): string => `
WITH unnamed AS MATERIALIZED (
  SELECT workspace.id FROM workspaces AS workspace
  WHERE workspace.deleted_at < $1 AND ${condition}
    AND NOT EXISTS (SELECT FROM api_keys WHERE workspace_id = workspace.id)
    AND NOT EXISTS (SELECT FROM destinations WHERE workspace_id = workspace.id)
    AND NOT EXISTS (SELECT FROM provider_credentials WHERE workspace_id = workspace.id)
    AND NOT EXISTS (
      SELECT FROM accounts WHERE id = workspace.account_id AND default_workspace_id = workspace.id
    )
  ORDER BY workspace.deleted_at FOR UPDATE SKIP LOCKED
)
DELETE FROM workspaces USING (
  SELECT id FROM unnamed
  WHERE (SELECT true FROM generations WHERE workspace_id = unnamed.id LIMIT 1) IS NULL LIMIT $2
) AS old
WHERE workspaces.id = old.id
RETURNING workspaces.id`;

/** $3 a moment: workspaces created since then, which have the rows of all their keys. Those without one were never called. */
export const PURGE_UNUSED_WORKSPACES = purgeWorkspaces('workspace.created_at >= $3');

export const PURGE_FORGOTTEN_WORKSPACES = purgeWorkspaces('true');

/** $1 workspaces that are gone. */
export const REMOVE_QUOTA_USAGE = 'DELETE FROM quota_usage WHERE owner_id = ANY ($1::uuid[])';
