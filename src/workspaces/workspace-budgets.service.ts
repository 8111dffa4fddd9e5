import { Injectable } from '@nestjs/common';
import type { Manager } from '../domain/people/manager.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import { AppError } from '../domain/errors.js';
import { parseUsd } from '../domain/spend/money.js';
import { BUDGET_INTERVALS, budgetProblem } from '../domain/workspace.js';
import type { BudgetInterval, BudgetState, MeasuredBudget, WrittenBudget } from '../domain/workspace.js';
import { rejectFixedChanges } from '../http/fields/record-members.js';
import { WorkspaceBudgetsRepository } from '../persistence/workspaces/workspace-budgets.repository.js';
import { resetIntervalOf, toBudgetRecord } from './dto/workspace-budget.dto.js';
import type { PutWorkspaceBudgetDto } from './dto/workspace-budget.dto.js';
import { noSuchWorkspace, WorkspacesService } from './workspaces.service.js';

interface WorkspaceBudgets {
  readonly budgets: readonly MeasuredBudget[];
  readonly includeByok: boolean;
}

const AUDITED_BUDGET: AuditedType<WrittenBudget> = {
  objectType: 'workspace_budget',
  objectId: ({ budget }) => budget.interval,
  workspaceId: ({ budget }) => budget.workspaceId,
  state: ({ budget, includeByok }) => ({
    ...toBudgetRecord(budget),
    include_byok_in_budgets: includeByok,
  }),
};

@Injectable()
export class WorkspaceBudgetsService {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly budgets: WorkspaceBudgetsRepository,
  ) {}

  async list(manager: Manager, ref: string): Promise<WorkspaceBudgets> {
    const workspace = await this.workspaces.get(manager, ref);
    return {
      budgets: await this.budgets.list(workspace),
      includeByok: workspace.includeByokInBudgets,
    };
  }

  async get(manager: Manager, ref: string, name: string): Promise<BudgetState> {
    const interval = readInterval(name);
    const { budgets, includeByok } = await this.list(manager, ref);
    const budget = budgets.find((found) => found.interval === interval);
    if (!budget) throw new AppError('not_found', { detail: `the workspace has no ${interval} budget` });
    return { budget, includeByok };
  }

  async put(actor: Actor, ref: string, name: string, dto: PutWorkspaceBudgetDto): Promise<BudgetState> {
    const interval = readInterval(name);
    const workspace = await this.workspaces.get(actor, ref);
    rejectFixedChanges(dto, { workspace_id: workspace.id, reset_interval: resetIntervalOf(interval) });
    // Finer amounts than the database stores are rounded: JSON numbers carry such digits on their own (0.1 + 0.2).
    const limit = parseUsd(dto.limit_usd.toFixed(12));
    if (limit === 0n) throw new AppError('invalid_request', { detail: 'limit_usd: must be at least 1e-12' });
    const written = await this.budgets.put(
      workspace,
      { interval, limit, includeByok: dto.include_byok_in_budgets },
      rejectProblem,
      describeChange(actor, AUDITED_BUDGET),
    );
    if (!written) throw noSuchWorkspace();
    return written;
  }

  async delete(actor: Actor, ref: string, name: string): Promise<void> {
    const interval = readInterval(name);
    await this.budgets.delete(
      await this.workspaces.get(actor, ref),
      interval,
      describeChange(actor, AUDITED_BUDGET),
    );
  }
}

function readInterval(name: string): BudgetInterval {
  const interval = BUDGET_INTERVALS.find((known) => known === name);
  if (interval) return interval;
  throw new AppError('invalid_request', {
    detail: `interval: must be one of ${BUDGET_INTERVALS.join(', ')}`,
  });
}

function rejectProblem(limits: Parameters<typeof budgetProblem>[0]): void {
  const problem = budgetProblem(limits);
  if (problem !== null) throw new AppError('invalid_request', { detail: `limit_usd: ${problem}` });
}
