// The state of the workspaces of a list: spend, budgets, keys and refused calls, in one statement.
//
// Why plain SQL: one round trip for a page of workspaces, however many there are.
import { parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendLimitWindow } from '../../domain/spend/spend-limit.js';
import { spendTowardWindow } from '../../domain/spend/spend.js';
import type { KeySpend } from '../../domain/spend/spend.js';
import { windowOf } from '../spend/shared-limits-json.js';
import { spendOf } from '../spend/spend-policy-statements.js';
import { readSpend } from '../spend/spend-row.js';
import type { SpendJson } from '../spend/spend-row.js';

export interface BudgetState extends Pick<SpendLimitWindow, 'window'> {
  readonly limit: PicoUsd;
  readonly spent: PicoUsd;
}

export interface WorkspaceSummary {
  readonly spend: KeySpend;
  readonly budgets: readonly BudgetState[];
  readonly keys: number;
  readonly refusedLastHour: number;
}

export interface SummaryRow {
  readonly id: string;
  readonly includeByok: boolean;
  readonly spend: SpendJson | null;
  readonly budgets: readonly { readonly interval: string; readonly limit: string }[];
  readonly keys: number;
  readonly refusedLastHour: number;
}

/** $1 workspaces, $2 the present time. */
export const READ_SUMMARIES = `
SELECT workspace.id, workspace.include_byok_in_budgets AS "includeByok", ${spendOf('workspace_spend')} AS spend,
  (SELECT coalesce(json_agg(json_build_object('interval', interval, 'limit', limit_amount::text) ORDER BY limit_amount), '[]')
    FROM workspace_budgets WHERE workspace_id = workspace.id) AS budgets,
  coalesce((SELECT used FROM quota_usage WHERE owner_id = workspace.id AND resource = 'api_keys'), 0)::float8 AS keys,
  (SELECT coalesce(sum(refusals), 0)::float8 FROM refusal_minutes WHERE workspace_id = workspace.id
    AND period >= date_trunc('minute', $2::timestamptz, 'UTC') - interval '59 minutes') AS "refusedLastHour"
FROM unnest($1::uuid[]) AS asked (id)
JOIN workspaces AS workspace USING (id)
LEFT JOIN workspace_spend ON workspace_spend.workspace_id = workspace.id`;

export function toSummary(row: SummaryRow, now: Date): WorkspaceSummary {
  const spend = readSpend(row.spend, now);
  return {
    spend,
    budgets: row.budgets.map(({ interval, limit }) => {
      const window = windowOf(interval);
      const spent = spendTowardWindow(spend, { window, includeByok: row.includeByok });
      return { window, limit: parseUsd(limit), spent };
    }),
    keys: row.keys,
    refusedLastHour: row.refusedLastHour,
  };
}
