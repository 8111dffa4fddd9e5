// Budgets of a workspace on the wire. Source: contract section 6.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsNumber, IsPositive, Max } from 'class-validator';
import { usdToNumber } from '../../domain/spend/money.js';
import type { WorkspaceBudget } from '../../domain/workspace.js';
import { IfGiven } from '../../http/fields/optional-members.js';

const MAX_LIMIT = 1_000_000_000;

export class WorkspaceBudgetDto {
  @ApiProperty({ description: 'The id of the workspace and the interval.' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  workspace_id: string;

  @ApiProperty({ type: Number, example: 100, description: 'USD.' })
  limit_usd: number;

  @ApiProperty({
    type: String,
    enum: ['daily', 'weekly', 'monthly', null],
    nullable: true,
    description:
      'At 00:00 UTC; weeks begin on Monday. Null: the budget is for the whole life of the workspace.',
  })
  reset_interval: string | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;
}

const INCLUDE_BYOK = 'Whether calls through own provider keys count toward all budgets of the workspace.';

export class WorkspaceBudgetResponseDto {
  @ApiProperty()
  data: WorkspaceBudgetDto;

  @ApiProperty({ description: INCLUDE_BYOK })
  include_byok_in_budgets: boolean;
}

export class WorkspaceBudgetListDto {
  @ApiProperty({ type: [WorkspaceBudgetDto] })
  data: WorkspaceBudgetDto[];

  @ApiProperty({ description: INCLUDE_BYOK })
  include_byok_in_budgets: boolean;
}

export class PutWorkspaceBudgetDto {
  @ApiProperty({
    type: Number,
    maximum: MAX_LIMIT,
    example: 100,
    description: 'USD, greater than 0. A wider interval must have a greater budget.',
  })
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @IsPositive({ message: 'must be greater than 0' })
  @IsNumber({}, { message: 'must be a number' })
  limit_usd: number;

  @ApiPropertyOptional({ description: `${INCLUDE_BYOK} Absent: as it is.` })
  @IfGiven()
  @IsBoolean({ message: 'must be a boolean' })
  include_byok_in_budgets?: boolean;
}

export function toWorkspaceBudgetDto(budget: WorkspaceBudget): WorkspaceBudgetDto {
  return {
    id: `${budget.workspaceId}:${budget.interval}`,
    workspace_id: budget.workspaceId,
    limit_usd: usdToNumber(budget.limit),
    reset_interval: budget.interval === 'lifetime' ? null : budget.interval,
    created_at: budget.createdAt.toISOString(),
    updated_at: (budget.updatedAt ?? budget.createdAt).toISOString(),
  };
}
