// Budgets of a workspace on the wire. Contract: docs/contract.md#workspaces.
import { usdToNumber } from '../../domain/spend/money.js';
import type { BudgetInterval, MeasuredBudget, WorkspaceBudget } from '../../domain/workspace.js';
import { ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import {
  EnumField,
  FlagField,
  TextField,
  TimeField,
  UsdField,
  UsdLimitField,
  UuidField,
} from '../../http/fields/scalar-fields.js';

export class WorkspaceBudgetDto {
  @TextField({ description: 'The id of the workspace and the interval.' }) id: string;
  @UuidField() workspace_id: string;
  @UsdField({ example: 100, description: 'USD.' }) limit_usd: number;
  @EnumField(['daily', 'weekly', 'monthly', null], {
    nullable: true,
    description:
      'The budget resets at 00:00 UTC; weeks begin on Monday. Null: a lifetime budget, without reset.',
  })
  reset_interval: string | null;
  @TimeField() created_at: string;
  @TimeField() updated_at: string;
  @UsdField({
    example: 12.5,
    description:
      'USD spent in the current window, settled calls only. A lifetime budget: since the workspace exists.',
  })
  spend_usd: number;
}

const INCLUDE_BYOK = 'Whether calls through own provider keys count toward all budgets of the workspace.';

export class WorkspaceBudgetResponseDto {
  @ObjectField(WorkspaceBudgetDto) data: WorkspaceBudgetDto;
  @FlagField({ description: INCLUDE_BYOK }) include_byok_in_budgets: boolean;
}

export class WorkspaceBudgetListDto {
  @ObjectListField(WorkspaceBudgetDto) data: WorkspaceBudgetDto[];
  @FlagField({ description: INCLUDE_BYOK }) include_byok_in_budgets: boolean;
}

@TakesRecord(WorkspaceBudgetDto)
export class PutWorkspaceBudgetDto {
  @UsdLimitField({
    positive: true,
    example: 100,
    description: 'USD, greater than 0. A wider interval must have a greater budget.',
  })
  limit_usd: number;

  @FlagField({ optional: true, description: `${INCLUDE_BYOK} Default: unchanged.` })
  include_byok_in_budgets?: boolean;

  @FixedField() workspace_id?: string;
  @FixedField({ nullable: true }) reset_interval?: string | null;
}

export function toWorkspaceBudgetDto(budget: MeasuredBudget): WorkspaceBudgetDto {
  return { ...toBudgetRecord(budget), spend_usd: usdToNumber(budget.spent) };
}

export function resetIntervalOf(interval: BudgetInterval): string | null {
  return interval === 'lifetime' ? null : interval;
}

/** The settings of a budget, which the audit log compares: its spend is no change. */
export function toBudgetRecord(budget: WorkspaceBudget): Omit<WorkspaceBudgetDto, 'spend_usd'> {
  return {
    id: `${budget.workspaceId}:${budget.interval}`,
    workspace_id: budget.workspaceId,
    limit_usd: usdToNumber(budget.limit),
    reset_interval: resetIntervalOf(budget.interval),
    created_at: budget.createdAt.toISOString(),
    updated_at: (budget.updatedAt ?? budget.createdAt).toISOString(),
  };
}
