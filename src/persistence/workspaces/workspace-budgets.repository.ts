import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { formatUsd, parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { BUDGET_INTERVALS } from '../../domain/workspace.js';
import type { BudgetInterval, Workspace, WorkspaceBudget, WrittenBudget } from '../../domain/workspace.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { WorkspaceBudgetModel as BudgetRow } from '../generated/models.js';
import { lockRow } from '../database/rows/row-lock.js';

interface NewBudget {
  readonly interval: BudgetInterval;
  readonly limit: PicoUsd;
  /** For all budgets of the workspace; absent: unchanged. */
  readonly includeByok: boolean | undefined;
}

@Injectable()
export class WorkspaceBudgetsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** The narrowest first. */
  async list(workspaceId: string): Promise<readonly WorkspaceBudget[]> {
    const rows = await this.database.prisma.workspaceBudget.findMany({ where: { workspaceId } });
    return inOrder(rows.map(toBudget));
  }

  /**
   * `check` throws when these budgets are inconsistent; they are locked until the commit. Null: no such workspace.
   */
  async put(
    workspace: Workspace,
    { interval, limit, includeByok }: NewBudget,
    check: (limits: ReadonlyMap<BudgetInterval, PicoUsd>) => void,
    describe: DescribeChange<WrittenBudget>,
  ): Promise<WrittenBudget | null> {
    const { id: workspaceId, accountId } = workspace;
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      await lockRow(transaction, 'workspaces', workspace);
      const row = await transaction.workspace.findUnique({
        where: { accountId_id: { accountId, id: workspaceId }, deletedAt: null },
        include: { budgets: true },
      });
      if (!row) return null;
      const budgets = row.budgets.map(toBudget);
      check(
        new Map([...budgets.map((budget) => [budget.interval, budget.limit] as const), [interval, limit]]),
      );
      if (includeByok !== undefined && includeByok !== row.includeByokInBudgets) {
        await transaction.workspace.update({
          where: { id: workspaceId },
          data: { includeByokInBudgets: includeByok, updatedAt: now },
        });
      }
      const written = await transaction.workspaceBudget.upsert({
        where: { workspaceId_interval: { workspaceId, interval } },
        create: { workspaceId, interval, limit: formatUsd(limit), createdAt: now },
        update: { limit: formatUsd(limit), updatedAt: now },
      });
      const old = budgets.find((budget) => budget.interval === interval);
      const before = old === undefined ? null : { budget: old, includeByok: row.includeByokInBudgets };
      const after = { budget: toBudget(written), includeByok: includeByok ?? row.includeByokInBudgets };
      await this.audit.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  /** Does nothing if there is none. */
  async delete(
    workspace: Workspace,
    interval: BudgetInterval,
    describe: DescribeChange<WrittenBudget>,
  ): Promise<void> {
    const { id: workspaceId, includeByokInBudgets: includeByok } = workspace;
    await this.database.transact(async (transaction) => {
      await lockRow(transaction, 'workspaces', workspace);
      const where = { workspaceId_interval: { workspaceId, interval } };
      const row = await transaction.workspaceBudget.findUnique({ where });
      if (!row) return;
      await transaction.workspaceBudget.delete({ where });
      await this.audit.record(describe({ budget: toBudget(row), includeByok }, null), transaction);
    }, workspace.accountId);
  }
}

function inOrder(budgets: readonly WorkspaceBudget[]): readonly WorkspaceBudget[] {
  return BUDGET_INTERVALS.flatMap((interval) => budgets.filter((budget) => budget.interval === interval));
}

function toBudget(row: BudgetRow): WorkspaceBudget {
  return {
    workspaceId: row.workspaceId,
    interval: row.interval as BudgetInterval,
    limit: parseUsd(row.limit.toFixed()),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
