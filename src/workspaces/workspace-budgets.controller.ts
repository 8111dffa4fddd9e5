// The routes of a workspace's budgets.
import { applyDecorators, Body, Controller, Delete, Get, Param, Put, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import type { Actor } from '../domain/audit.js';
import { BUDGET_INTERVALS } from '../domain/workspace.js';
import type { BudgetState } from '../domain/workspace.js';
import { Operation } from '../http/openapi/operation.js';
import { DeletedDto } from '../http/openapi/envelopes.js';
import { EmptyQueryDto } from '../http/dto/page-query.dto.js';
import {
  PutWorkspaceBudgetDto,
  toWorkspaceBudgetDto,
  WorkspaceBudgetListDto,
  WorkspaceBudgetResponseDto,
} from './dto/workspace-budget.dto.js';
import { WorkspaceBudgetsService } from './workspace-budgets.service.js';

const WorkspaceParam = (): MethodDecorator =>
  ApiParam({ name: 'workspace_ref', description: 'Id or slug of the workspace.', example: 'production' });
const BudgetParams = (): MethodDecorator =>
  applyDecorators(WorkspaceParam(), ApiParam({ name: 'interval', enum: BUDGET_INTERVALS }));

@ApiTags('Workspace budgets')
@ApiBearerAuth()
@ManagementOnly()
@Controller('workspaces/:workspace_ref/budgets')
export class WorkspaceBudgetsController {
  constructor(private readonly budgets: WorkspaceBudgetsService) {}

  @Get()
  @NeedsRight('workspaces.read')
  @Operation({
    id: 'listWorkspaceBudgets',
    summary: 'List the budgets of a workspace',
    description: 'The budgets of a workspace, at most one for each interval.',
    answer: WorkspaceBudgetListDto,
  })
  @WorkspaceParam()
  async list(
    @CurrentManager() manager: Manager,
    @Param('workspace_ref') ref: string,
    @Query() _query: EmptyQueryDto,
  ): Promise<WorkspaceBudgetListDto> {
    const { budgets, includeByok } = await this.budgets.list(manager, ref);
    return { data: budgets.map(toWorkspaceBudgetDto), include_byok_in_budgets: includeByok };
  }

  @Get(':interval')
  @NeedsRight('workspaces.read')
  @Operation({
    id: 'getWorkspaceBudget',
    summary: 'Get a budget',
    description: 'The budget of a workspace for one interval.',
    answer: WorkspaceBudgetResponseDto,
  })
  @BudgetParams()
  async get(
    @CurrentManager() manager: Manager,
    @Param('workspace_ref') ref: string,
    @Param('interval') interval: string,
  ): Promise<WorkspaceBudgetResponseDto> {
    return toResponse(await this.budgets.get(manager, ref, interval));
  }

  @Put(':interval')
  @NeedsRight('budgets.change')
  @Operation({
    id: 'upsertWorkspaceBudget',
    summary: 'Set a budget',
    description:
      'Creates or replaces the budget of an interval. Calls of the workspace receive 403 once it is exhausted.',
    answer: WorkspaceBudgetResponseDto,
  })
  @BudgetParams()
  async put(
    @CurrentActor() actor: Actor,
    @Param('workspace_ref') ref: string,
    @Param('interval') interval: string,
    @Body() body: PutWorkspaceBudgetDto,
  ): Promise<WorkspaceBudgetResponseDto> {
    return toResponse(await this.budgets.put(actor, ref, interval, body));
  }

  @Delete(':interval')
  @NeedsRight('budgets.change')
  @Operation({
    id: 'deleteWorkspaceBudget',
    summary: 'Delete a budget',
    description: 'Succeeds also when the interval has no budget.',
    answer: DeletedDto,
  })
  @BudgetParams()
  async delete(
    @CurrentActor() actor: Actor,
    @Param('workspace_ref') ref: string,
    @Param('interval') interval: string,
  ): Promise<DeletedDto> {
    await this.budgets.delete(actor, ref, interval);
    return { deleted: true };
  }
}

function toResponse({ budget, includeByok }: BudgetState): WorkspaceBudgetResponseDto {
  return { data: toWorkspaceBudgetDto(budget), include_byok_in_budgets: includeByok };
}
