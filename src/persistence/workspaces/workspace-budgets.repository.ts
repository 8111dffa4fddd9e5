import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { formatUsd, parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { spendTowardWindow } from '../../domain/spend/spend.js';
import type { KeySpend } from '../../domain/spend/spend.js';
import { BUDGET_INTERVALS } from '../../domain/workspace.js';
import type {
  BudgetInterval,
  BudgetState,
  MeasuredBudget,
  Workspace,
  WorkspaceBudget,
  WrittenBudget,
} from '../../domain/workspace.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { WorkspaceBudgetModel as BudgetRow } from '../generated/models.js';
import { lockRow } from '../database/rows/row-lock.js';
import { readSpend, toKeySpend } from '../spend/spend-row.js';
import type { SpendJson } from '../spend/spend-row.js';
import { windowOf } from '../spend/shared-limits-json.js';
import { LIST_BUDGETS } from './workspace-statements.js';

interface NewBudget {
  readonly interval: BudgetInterval;
  readonly limit: PicoUsd;
  /** For all budgets of the workspace; absent: unchanged. */
  readonly includeByok: boolean | undefined;
}

interface MeasuredRow extends Omit<BudgetRow, 'limit'> {
  readonly limit: string;
  readonly includeByok: boolean;
  /** Null: nothing was spent. */
  readonly spend: SpendJson | null;
}

@Injectable()
export class WorkspaceBudgetsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** The narrowest first. */
  async list({ accountId, id: workspaceId }: Workspace): Promise<readonly MeasuredBudget[]> {
    const rows = await this.database.query<MeasuredRow>({
      name: 'list-budgets',
      text: LIST_BUDGETS,
      values: [accountId, workspaceId],
    });
    const now = this.clock.now();
    return inOrder(
      rows.map(({ includeByok, spend, limit, ...row }) =>
        measure(toBudget({ ...row, limit: parseUsd(limit) }), readSpend(spend, now), includeByok),
      ),
    );
  }

  /**
   * `check` throws when these budgets are inconsistent; they are locked until the commit. Null: no such workspace.
   */
  async put(
    workspace: Workspace,
    { interval, limit, includeByok }: NewBudget,
    check: (limits: ReadonlyMap<BudgetInterval, PicoUsd>) => void,
    describe: DescribeChange<WrittenBudget>,
  ): Promise<BudgetState | null> {
    const { id: workspaceId, accountId } = workspace;
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      await lockRow(transaction, 'workspaces', workspace);
      const row = await transaction.workspace.findUnique({
        where: { accountId_id: { accountId, id: workspaceId }, deletedAt: null },
        include: { budgets: true, spend: true },
      });
      if (!row) return null;
      const budgets = row.budgets.map(fromRow);
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
      const counted = includeByok ?? row.includeByokInBudgets;
      const budget = measure(fromRow(written), toKeySpend(row.spend, now), counted);
      const after = { budget, includeByok: counted };
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
      await this.audit.record(describe({ budget: fromRow(row), includeByok }, null), transaction);
    }, workspace.accountId);
  }
}

function inOrder(budgets: readonly MeasuredBudget[]): readonly MeasuredBudget[] {
  return BUDGET_INTERVALS.flatMap((interval) => budgets.filter((budget) => budget.interval === interval));
}

function measure(budget: WorkspaceBudget, spend: KeySpend, includeByok: boolean): MeasuredBudget {
  return {
    ...budget,
    spent: spendTowardWindow(spend, { window: windowOf(budget.interval), includeByok }),
  };
}

function fromRow(row: BudgetRow): WorkspaceBudget {
  return toBudget({ ...row, limit: parseUsd(row.limit.toFixed()) });
}

function toBudget(row: Omit<BudgetRow, 'limit'> & { readonly limit: PicoUsd }): WorkspaceBudget {
  return {
    workspaceId: row.workspaceId,
    interval: row.interval as BudgetInterval,
    limit: row.limit,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
