// The statements that read a key with its spend, and the limits above it.
//
// Why plain SQL: clients poll their key, and Prisma takes six times as much processor time for its statements.
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

const LAST_DAY = `spend.last_day::timestamp AT TIME ZONE 'UTC' AS "lastDay"`;

const select = (table: string, columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([member, column]) => `${table}.${column} AS "${member}"`)
    .join(', ');

/** A key that has spent nothing has no row of spend. */
export type KeyWithSpendRow = ApiKeyRow & (KeySpendRow | Record<keyof KeySpendRow, null>);

/** $1 account, $2 hash. The driver would read a date in its own time zone. */
export const READ_KEY = `
SELECT ${select('key', KEY_COLUMNS)}, ${select('spend', SPEND_COLUMNS)}, ${LAST_DAY}
FROM api_keys AS key
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
WHERE key.account_id = $1 AND key.hash = $2 AND key.deleted_at IS NULL`;

export type SharedLimitsRow = (KeySpendRow | Record<keyof KeySpendRow, null>) & {
  readonly includeByok: boolean;
  readonly interval: string | null;
  readonly limit: string | null;
  readonly credits: string | null;
  readonly creditsSpent: string | null;
};

/** $1 workspace. A row for each budget, or one without. */
export const READ_SHARED_LIMITS = `
SELECT workspace.include_byok_in_budgets AS "includeByok", budget.interval, budget.limit_amount AS "limit",
  account.credits, account_spend.total AS "creditsSpent", ${select('spend', SPEND_COLUMNS)}, ${LAST_DAY}
FROM workspaces AS workspace
JOIN accounts AS account ON account.id = workspace.account_id
LEFT JOIN account_spend ON account_spend.account_id = workspace.account_id
LEFT JOIN workspace_spend AS spend ON spend.workspace_id = workspace.id
LEFT JOIN workspace_budgets AS budget ON budget.workspace_id = workspace.id
WHERE workspace.id = $1`;
