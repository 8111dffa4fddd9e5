// The statements that read a key with its spend, and the limits above it.
//
// Why plain SQL: clients poll their key, and Prisma takes six times as much processor time for its statements.
import type { LastUse } from '../../domain/keys/api-key.js';
import { selectLastUse } from '../activity/activity-statements.js';
import type { SharedLimitsJson } from '../spend/shared-limits-json.js';
import type { ApiKeyRow, SpendAmount, SpendJson } from './api-key-row.js';

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
} satisfies Record<SpendAmount, string>;

const select = (table: string, columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([member, column]) => `${table}.${column} AS "${member}"`)
    .join(', ');

/**
 * SpendJson of an outer-joined table; null: nothing was spent. `owner`: its column that is never null. One column: the
 * driver takes more than a microsecond for each column of a result.
 */
export const spendOf = (table: string, owner = 'workspace_id'): string => {
  const amounts = Object.entries(SPEND_COLUMNS).map(
    ([member, column]) => `'${member}', ${table}.${column}::text`,
  );
  const spend = `json_build_object('lastDay', ${table}.last_day, ${amounts.join(', ')})`;
  return `CASE WHEN ${table}.${owner} IS NOT NULL THEN ${spend} END`;
};

/** SharedLimitsJson. Without a budget, the spend of the workspace is not read. */
const SHARED_LIMITS = {
  value: `json_build_object('includeByok', workspace.include_byok_in_budgets, 'budgets', budgets.list,
    'spend', ${spendOf('workspace_spend')},
    'credits', account.credits::text, 'creditsSpent', account_spend.total::text)`,
  joins: `JOIN accounts AS account ON account.id = workspace.account_id
LEFT JOIN account_spend ON account_spend.account_id = workspace.account_id
CROSS JOIN LATERAL (
  SELECT json_agg(json_build_object('interval', interval, 'limit', limit_amount::text)) AS list
  FROM workspace_budgets WHERE workspace_id = workspace.id
) AS budgets
LEFT JOIN workspace_spend ON workspace_spend.workspace_id = workspace.id AND budgets.list IS NOT NULL`,
};

export interface KeySnapshotRow extends ApiKeyRow, LastUse {
  /** Null: nothing was spent. */
  readonly spend: SpendJson | null;
  readonly sharedLimits: SharedLimitsJson;
}

/** $1 account, $2 hash. */
export const READ_KEY = `
SELECT ${select('key', KEY_COLUMNS)}, ${spendOf('spend')} AS spend,
${SHARED_LIMITS.value} AS "sharedLimits", ${selectLastUse('key.workspace_id', 'key.id', 'spend.last_day')}
FROM api_keys AS key
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
JOIN workspaces AS workspace ON workspace.id = key.workspace_id
${SHARED_LIMITS.joins}
WHERE key.account_id = $1 AND key.hash = $2 AND key.deleted_at IS NULL`;

/** $1 workspace. */
export const READ_SHARED_LIMITS = `
SELECT ${SHARED_LIMITS.value} AS "sharedLimits"
FROM workspaces AS workspace
${SHARED_LIMITS.joins}
WHERE workspace.id = $1`;
