// Rows of the limits above a key: a row for each budget of its workspace, or one without.
import { parseUsd } from '../../domain/spend/money.js';
import type { SharedLimits, SpendLimitWindow } from '../../domain/spend/spend-limit.js';
import type { KeySpend } from '../../domain/spend/spend.js';
import { toKeySpend } from '../keys/api-key-row.js';
import type { KeySpendRow } from '../keys/api-key-row.js';

/** Beside the spend of a key. */
type WorkspaceSpendRow = {
  readonly [Member in keyof KeySpendRow as `workspace${Capitalize<Member>}`]: KeySpendRow[Member];
};

export type SharedLimitsRow = (WorkspaceSpendRow | Record<keyof WorkspaceSpendRow, null>) & {
  readonly includeByok: boolean;
  readonly interval: string | null;
  readonly budgetLimit: string | null;
  readonly credits: string | null;
  readonly creditsSpent: string | null;
};

const WINDOWS = { daily: 'daily', weekly: 'weekly', monthly: 'monthly', lifetime: 'total' } as const;

export function windowOf(interval: string): SpendLimitWindow['window'] {
  return WINDOWS[interval as keyof typeof WINDOWS];
}

/** With the spend of the workspace in the windows of `now`. */
export function toSharedLimits(
  rows: readonly [SharedLimitsRow, ...SharedLimitsRow[]],
  now: Date,
): SharedLimits {
  const [row] = rows;
  return {
    budgets: rows.flatMap(({ interval, budgetLimit, includeByok }) =>
      interval === null || budgetLimit === null
        ? []
        : [{ window: windowOf(interval), limit: parseUsd(budgetLimit), includeByok }],
    ),
    workspaceSpend: toWorkspaceSpend(row, now),
    credits: {
      bought: row.credits === null ? null : parseUsd(row.credits),
      spent: parseUsd(row.creditsSpent ?? '0'),
    },
  };
}

function toWorkspaceSpend(row: SharedLimitsRow, now: Date): KeySpend {
  if (row.workspaceLastDay === null) return toKeySpend(null, now);
  return toKeySpend(
    {
      lastDay: row.workspaceLastDay,
      total: row.workspaceTotal,
      daily: row.workspaceDaily,
      weekly: row.workspaceWeekly,
      monthly: row.workspaceMonthly,
      byokTotal: row.workspaceByokTotal,
      byokDaily: row.workspaceByokDaily,
      byokWeekly: row.workspaceByokWeekly,
      byokMonthly: row.workspaceByokMonthly,
    },
    now,
  );
}
