// The expressions that read spend, and the limits above a key.
//
// Why plain SQL: clients poll their key, and Prisma takes six times as much processor time for its statements.
import { opaqueArray } from '../database/rows/record-rows.js';
import type { SpendAmount } from './spend-row.js';

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
export const SHARED_LIMITS = {
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

/** $1 workspaces, each found by its key. */
export const READ_SHARED_LIMITS = `
SELECT found.* FROM unnest(${opaqueArray('$1', 'uuid')}) AS wanted (id) CROSS JOIN LATERAL (
  SELECT workspace.id, ${SHARED_LIMITS.value} AS "sharedLimits"
  FROM workspaces AS workspace
  ${SHARED_LIMITS.joins}
  WHERE workspace.id = wanted.id LIMIT 1
) AS found`;

export interface UnpaidRow {
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly day: string;
  readonly amount: string;
}

/** $1 workspaces, $2 day, $3 amount: the keys that have left so much unpaid on that day, or on one that has begun elsewhere. */
export const READ_UNPAID_KEYS = `
SELECT workspace_id AS "workspaceId", api_key_id AS "apiKeyId", unpaid_day::text AS day, unpaid::text AS amount
FROM key_spend WHERE workspace_id = ANY($1::uuid[]) AND unpaid_day >= $2::date AND unpaid > 0 AND unpaid >= $3::numeric`;
