// Workspaces: their settings, members and budgets (docs/contract.md#workspaces).
import type { RoleSources, WorkspaceRole } from './people/person.js';
import { formatUsd } from './spend/money.js';
import type { PicoUsd } from './spend/money.js';

export interface WorkspaceSettings {
  readonly name: string;
  /** Unique in the account. */
  readonly slug: string;
  readonly description: string | null;
  /** The master switch of all deliveries of the workspace. */
  readonly isBroadcastEnabled: boolean;
}

export interface Workspace extends WorkspaceSettings {
  readonly id: string;
  readonly accountId: string;
  readonly includeByokInBudgets: boolean;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** Null until the first change. */
  readonly updatedAt: Date | null;
}

export interface WorkspaceMember {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  /** The higher of the two below. */
  readonly role: WorkspaceRole;
  readonly roleSources: RoleSources<WorkspaceRole>;
  readonly createdAt: Date;
}

/** From the narrowest to the widest. */
export const BUDGET_INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const;
export type BudgetInterval = (typeof BUDGET_INTERVALS)[number];

export interface WorkspaceBudget {
  readonly workspaceId: string;
  readonly interval: BudgetInterval;
  readonly limit: PicoUsd;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
}

/** A budget and the setting of all budgets of its workspace. */
export interface WrittenBudget {
  readonly budget: WorkspaceBudget;
  readonly includeByok: boolean;
}

/** A budget and the settled spend that counts towards it in its current window. */
export interface MeasuredBudget extends WorkspaceBudget {
  readonly spent: PicoUsd;
}

export interface BudgetState extends WrittenBudget {
  readonly budget: MeasuredBudget;
}

/** Why these budgets conflict: a wider interval must allow more. Null: they do not. */
export function budgetProblem(limits: ReadonlyMap<BudgetInterval, PicoUsd>): string | null {
  let narrower: { readonly interval: BudgetInterval; readonly limit: PicoUsd } | null = null;
  for (const interval of BUDGET_INTERVALS) {
    const limit = limits.get(interval);
    if (limit === undefined) continue;
    if (narrower !== null && limit <= narrower.limit) {
      return (
        `the ${interval} budget of ${formatUsd(limit)} USD must be greater than ` +
        `the ${narrower.interval} budget of ${formatUsd(narrower.limit)} USD`
      );
    }
    narrower = { interval, limit };
  }
  return null;
}
