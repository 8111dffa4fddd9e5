import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import type { Scope } from '../../domain/people/manager.js';
import type { Workspace, WorkspaceSettings } from '../../domain/workspace.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { UniqueViolation } from '../database/database-errors.js';
import type { WorkspaceModel as WorkspaceRow } from '../generated/models.js';
import { rejectAboveQuotas } from './quotas.js';
import type { Quota } from './quotas.js';
import { lockRow } from '../database/rows/row-lock.js';
import { READ_SUMMARIES, toSummary } from './workspace-summaries.js';
import type { SummaryRow, WorkspaceSummary } from './workspace-summaries.js';
import { COUNT_DELETED, SWITCH_OFF_WORKSPACE } from './workspace-statements.js';

// Deleted workspaces that an account may have for each one of its quota. Records name them until they are purged, and
// reports and rollups read them.
const DELETED_PER_WORKSPACE = 10;

interface WorkspaceRef {
  readonly accountId: string;
  readonly id: string;
}

@Injectable()
export class WorkspacesRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** `limit`: the account's maximum of workspaces. Throws `limit_reached` beyond it. */
  async create(
    accountId: string,
    settings: WorkspaceSettings & Pick<Workspace, 'createdBy'>,
    describe: DescribeChange<Workspace>,
    limit: number,
  ): Promise<Workspace> {
    const now = this.clock.now();
    const quota = {
      resource: 'workspaces',
      owner: 'account',
      ownerId: accountId,
      limit,
      variable: 'MAX_WORKSPACES_PER_ACCOUNT',
    } as const;
    return this.rejectingTakenSlugs(accountId, async (transaction) => {
      const row = await transaction.workspace.create({
        data: { ...settings, id: uuidV7(now), accountId, createdAt: now },
      });
      // Its row lock makes the count after it exact.
      await rejectAboveQuotas(transaction, [quota]);
      await rejectAboveDeleted(transaction, quota);
      const workspace = toWorkspace(row);
      await this.audit.record(describe(null, workspace), transaction);
      return workspace;
    });
  }

  async findById(accountId: string, id: string): Promise<Workspace | null> {
    const row = await this.database.prisma.workspace.findUnique({ where: living({ accountId, id }) });
    return row && toWorkspace(row);
  }

  async findBySlug(accountId: string, slug: string): Promise<Workspace | null> {
    const row = await this.database.prisma.workspace.findUnique({
      where: { accountId_slug: { accountId, slug } },
    });
    return row && toWorkspace(row);
  }

  /** Those within reach, the oldest first. */
  async list({ accountId, reach }: Scope, { offset, limit }: PageRequest): Promise<Page<Workspace>> {
    const { workspaceIds } = reach;
    const where = { accountId, deletedAt: null, ...(workspaceIds && { id: { in: [...workspaceIds] } }) };
    const [rows, total] = await Promise.all([
      this.database.prisma.workspace.findMany({
        where,
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.workspace.count({ where }),
    ]);
    return { items: rows.map(toWorkspace), total };
  }

  /** By workspace id. */
  async summarise(ids: readonly string[]): Promise<ReadonlyMap<string, WorkspaceSummary>> {
    const now = this.clock.now();
    const rows = await this.database.query<SummaryRow & Record<string, unknown>>({
      name: 'workspace-summaries',
      text: READ_SUMMARIES,
      values: [ids, now],
    });
    return new Map(rows.map((row) => [row.id, toSummary(row, now)]));
  }

  /** Null: there is none. */
  async update(
    ref: WorkspaceRef,
    change: Partial<WorkspaceSettings>,
    describe: DescribeChange<Workspace>,
  ): Promise<Workspace | null> {
    return this.rejectingTakenSlugs(ref.accountId, async (transaction) => {
      await lockRow(transaction, 'workspaces', ref);
      const row = await transaction.workspace.findUnique({ where: living(ref) });
      if (!row) return null;
      const changed = await transaction.workspace.update({
        where: living(ref),
        data: { ...change, updatedAt: this.clock.now() },
      });
      const after = toWorkspace(changed);
      await this.audit.record(describe(toWorkspace(row), after), transaction);
      return after;
    });
  }

  /**
   * The row stays until it is purged, since the log names it. Its destinations, own provider keys and budgets are
   * deleted. With `disablesKeys` its inference keys are disabled for good; without it, a workspace with keys is
   * rejected. False: there is no such workspace.
   */
  async delete(
    ref: WorkspaceRef,
    { disablesKeys }: { readonly disablesKeys: boolean },
    describe: DescribeChange<Workspace>,
  ): Promise<boolean> {
    const now = this.clock.now();
    const { id: workspaceId } = ref;
    return this.database.transact(async (transaction) => {
      await lockRow(transaction, 'workspaces', ref);
      const row = await transaction.workspace.findUnique({ where: living(ref) });
      if (!row) return false;
      // The update of the slug waits for concurrent creations of keys; the count after it sees those keys.
      await transaction.workspace.update({ where: living(ref), data: { deletedAt: now, slug: null } });
      if (!disablesKeys) await rejectKeys(transaction, workspaceId);
      const entry = describe(toWorkspace(row), null);
      await transaction.$executeRawUnsafe(
        SWITCH_OFF_WORKSPACE,
        workspaceId,
        now.toISOString(),
        disablesKeys,
        JSON.stringify(this.audit.toRow(entry)),
      );
      await this.audit.record(entry, transaction);
      return true;
    }, ref.accountId);
  }

  private async rejectingTakenSlugs<Result>(
    accountId: string,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.database.transact(work, accountId);
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      throw new AppError('invalid_request', { detail: 'slug: another workspace of the account has it' });
    }
  }
}

async function rejectAboveDeleted(
  transaction: Transaction,
  { ownerId, limit, variable }: Extract<Quota, { readonly variable: string }>,
): Promise<void> {
  const max = limit * DELETED_PER_WORKSPACE;
  const [deleted] = await transaction.$queryRawUnsafe<{ count: number }[]>(COUNT_DELETED, ownerId, max);
  if (deleted === undefined || deleted.count < max) return;
  throw new AppError('limit_reached', {
    detail:
      `account ${ownerId} has deleted ${max} workspaces that are not purged yet; reuse workspaces, or have the operator ` +
      `raise ${variable}`,
  });
}

async function rejectKeys(transaction: Transaction, workspaceId: string): Promise<void> {
  const keys = await transaction.apiKey.count({ where: { workspaceId, deletedAt: null } });
  if (keys === 0) return;
  throw new AppError('invalid_request', {
    detail: `the workspace has ${keys} API ${keys === 1 ? 'key' : 'keys'}; delete them first`,
  });
}

function living(ref: WorkspaceRef) {
  return { accountId_id: { accountId: ref.accountId, id: ref.id }, deletedAt: null };
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    slug: row.slug ?? '',
    description: row.description,
    isBroadcastEnabled: row.isBroadcastEnabled,
    includeByokInBudgets: row.includeByokInBudgets,
    createdBy: row.createdBy,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}
