// The statements that read a key with its spend, and the limits above it.
//
// Why plain SQL: clients poll their key, and Prisma takes six times as much processor time for its statements.
import type { LastUse } from '../../domain/keys/api-key.js';
import { selectLastUse } from '../activity/activity-statements.js';
import type { SharedLimitsRow } from '../spend/shared-limits-row.js';
import type { ApiKeyRow, KeySpendRow } from './api-key-row.js';

const KEY_COLUMNS = {
  id: 'id',
  accountId: 'account_id',
  workspaceId: 'workspace_id',
  hash: 'hash',
  kind: 'kind',
  name: 'name',
  label: 'label',
  disabled: 'disabled',
  limit: 'limit_amount',
  limitReset: 'limit_reset',
  includeByokInLimit: 'include_byok_in_limit',
  embeddingCache: 'embedding_cache',
  creatorUserId: 'creator_user_id',
  externalUser: 'external_user',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  expiresAt: 'expires_at',
} satisfies Record<keyof ApiKeyRow, string>;

const SPEND_COLUMNS = {
  total: 'total',
  daily: 'daily',
  weekly: 'weekly',
  monthly: 'monthly',
  byokTotal: 'byok_total',
  byokDaily: 'byok_daily',
  byokWeekly: 'byok_weekly',
  byokMonthly: 'byok_monthly',
} satisfies Record<Exclude<keyof KeySpendRow, 'lastDay'>, string>;

const select = (table: string, columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([member, column]) => `${table}.${column} AS "${member}"`)
    .join(', ');

/** The driver would read a date in its own time zone. */
const selectLastDay = (table: string, member: string): string =>
  `${table}.last_day::timestamp AT TIME ZONE 'UTC' AS "${member}"`;

/** Members of SharedLimitsRow. */
const WORKSPACE_SPEND_COLUMNS = Object.fromEntries(
  Object.entries(SPEND_COLUMNS).map(([member, column]) => [
    `workspace${member.slice(0, 1).toUpperCase()}${member.slice(1)}`,
    column,
  ]),
);

/** Without a budget, the spend of the workspace is not read. */
const SHARED_LIMITS = {
  columns: `workspace.include_byok_in_budgets AS "includeByok", budget.interval, budget.limit_amount AS "budgetLimit",
  account.credits, account_spend.total AS "creditsSpent", ${select('workspace_spend', WORKSPACE_SPEND_COLUMNS)},
  ${selectLastDay('workspace_spend', 'workspaceLastDay')}`,
  joins: `JOIN accounts AS account ON account.id = workspace.account_id
LEFT JOIN account_spend ON account_spend.account_id = workspace.account_id
LEFT JOIN workspace_budgets AS budget ON budget.workspace_id = workspace.id
LEFT JOIN workspace_spend ON workspace_spend.workspace_id = budget.workspace_id`,
};

/** A key that has spent nothing has no row of spend. */
export type KeySnapshotRow = ApiKeyRow &
  (KeySpendRow | Record<keyof KeySpendRow, null>) &
  SharedLimitsRow &
  LastUse;

/** $1 account, $2 hash. A row for each budget of the workspace, or one without. */
export const READ_KEY = `
SELECT ${select('key', KEY_COLUMNS)}, ${select('spend', SPEND_COLUMNS)}, ${selectLastDay('spend', 'lastDay')},
${SHARED_LIMITS.columns}, ${selectLastUse('key.workspace_id', 'key.id', 'spend.last_day')}
FROM api_keys AS key
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
JOIN workspaces AS workspace ON workspace.id = key.workspace_id
${SHARED_LIMITS.joins}
WHERE key.account_id = $1 AND key.hash = $2 AND key.deleted_at IS NULL`;

/** $1 workspace. A row for each budget, or one without. */
export const READ_SHARED_LIMITS = `
SELECT ${SHARED_LIMITS.columns}
FROM workspaces AS workspace
${SHARED_LIMITS.joins}
WHERE workspace.id = $1`;
