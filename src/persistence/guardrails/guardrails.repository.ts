// Guardrails of workspaces.
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { defaultGuardrailId, MAX_GUARDRAILS_PER_WORKSPACE } from '../../domain/guardrails/guardrail.js';
import type { Guardrail, GuardrailOwner, GuardrailSettings } from '../../domain/guardrails/guardrail.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { reachesWorkspace } from '../../domain/people/manager.js';
import type { Scope } from '../../domain/people/manager.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { noSuchWorkspace } from '../database/database-errors.js';
import { lockRow } from '../database/rows/row-lock.js';
import { toGuardrail, toSettingColumns } from './guardrail-row.js';
import { guardrailsWhere } from './guardrails-in-reach.js';

type Describe = DescribeChange<Guardrail>;
/** The settings after a change. */
type ChangeSettings = (before: Guardrail) => GuardrailSettings;

// Workspaces that one query reads.
const WORKSPACES_AT_ONCE = 1_000;

@Injectable()
export class GuardrailsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** Null: no such guardrail is within reach. */
  async find({ accountId, reach }: Scope, id: string): Promise<Guardrail | null> {
    const row = await this.database.prisma.guardrail.findUnique({
      where: { id, accountId, AND: guardrailsWhere(reach) },
    });
    return row && toGuardrail(row);
  }

  /** Of the account of the caller that names it. */
  async findForCalls(id: string): Promise<Guardrail | null> {
    const row = await this.database.prisma.guardrail.findUnique({ where: { id } });
    return row && toGuardrail(row);
  }

  /** Those within reach, the default one first, then the oldest. */
  async list(
    { accountId, reach }: Scope,
    workspaceId: string,
    { offset, limit }: PageRequest,
  ): Promise<Page<Guardrail>> {
    const where = { accountId, workspaceId, AND: guardrailsWhere(reach) };
    const [rows, total] = await Promise.all([
      this.database.prisma.guardrail.findMany({
        where,
        orderBy: [{ isDefault: 'desc' }, { createdAt: 'asc' }, { id: 'asc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.guardrail.count({ where }),
    ]);
    return { items: rows.map(toGuardrail), total };
  }

  /** Throws `limit_reached`, or `invalid_request` when there is no such workspace. */
  async create(owner: GuardrailOwner, settings: GuardrailSettings, describe: Describe): Promise<Guardrail> {
    const { accountId, workspaceId } = owner;
    return this.database.transact(async (transaction) => {
      await lockWorkspace(transaction, owner);
      const count = await transaction.guardrail.count({ where: { workspaceId, isDefault: false } });
      if (count >= MAX_GUARDRAILS_PER_WORKSPACE)
        throw new AppError('limit_reached', {
          detail: `the workspace has ${MAX_GUARDRAILS_PER_WORKSPACE} guardrails, which is the limit; delete one of them first`,
        });
      return this.insert(transaction, owner, settings, describe, null);
    }, accountId);
  }

  /**
   * Null: no such guardrail is within reach. The default guardrail of a workspace is created by its first change, which begins
   * with `initial`.
   */
  async change(
    scope: Scope,
    id: string,
    change: ChangeSettings,
    initial: GuardrailSettings,
    describe: Describe,
  ): Promise<Guardrail | null> {
    const { accountId, reach } = scope;
    const workspaceId =
      (await this.find(scope, id))?.workspaceId ?? (await this.ownerOfDefault(accountId, id));
    if (workspaceId === null || !reachesWorkspace(reach, workspaceId)) return null;
    const owner = { accountId, workspaceId };
    return this.database.transact(async (transaction) => {
      await lockWorkspace(transaction, owner);
      const row = await transaction.guardrail.findUnique({ where: { id, accountId } });
      const now = this.clock.now();
      if (!row) {
        if (id !== defaultGuardrailId(workspaceId)) return null;
        const none = { ...initial, ...owner, id, isDefault: true, createdAt: now, updatedAt: null };
        return this.insert(transaction, owner, change(none), describe, id);
      }
      const before = toGuardrail(row);
      const data = toSettingColumns(change(before));
      if (isDeepStrictEqual(data, toSettingColumns(before))) return before;
      const after = toGuardrail(
        await transaction.guardrail.update({
          where: { id, accountId },
          data: { ...data, updatedAt: now },
        }),
      );
      await this.audit.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  /** Its assignments end with it. False: the account has no such guardrail. */
  async delete(accountId: string, id: string, describe: Describe): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const where = { id, accountId };
      const row = await transaction.guardrail.findUnique({ where });
      // Of concurrent deletions only one removes it.
      const { count } = await transaction.guardrail.deleteMany({ where });
      if (count === 0 || !row) return false;
      await this.audit.record(describe(toGuardrail(row), null), transaction);
      return true;
    }, accountId);
  }

  private async insert(
    transaction: Transaction,
    { accountId, workspaceId }: GuardrailOwner,
    settings: GuardrailSettings,
    describe: Describe,
    /** Null: it is not that of the workspace's keys. */
    defaultId: string | null,
  ): Promise<Guardrail> {
    const now = this.clock.now();
    const row = await transaction.guardrail.create({
      data: {
        ...toSettingColumns(settings),
        id: defaultId ?? uuidV7(now),
        isDefault: defaultId !== null,
        accountId,
        workspaceId,
        createdAt: now,
      },
    });
    const created = toGuardrail(row);
    await this.audit.record(describe(null, created), transaction);
    return created;
  }

  /** The workspace whose default guardrail has this id; null: there is none. The id shows that, but not the workspace. */
  private async ownerOfDefault(accountId: string, id: string): Promise<string | null> {
    if (id[14] !== '5') return null;
    let last: string | null = null;
    for (;;) {
      const rows: readonly { readonly id: string }[] = await this.database.prisma.workspace.findMany({
        select: { id: true },
        where: { accountId, deletedAt: null, ...(last !== null && { id: { gt: last } }) },
        orderBy: { id: 'asc' },
        take: WORKSPACES_AT_ONCE,
      });
      const owner = rows.find((workspace) => defaultGuardrailId(workspace.id) === id);
      if (owner) return owner.id;
      last = rows.at(-1)?.id ?? null;
      if (rows.length < WORKSPACES_AT_ONCE) return null;
    }
  }
}

/** Changes of one workspace wait here, so that limits are exact. */
export async function lockWorkspace(
  transaction: Transaction,
  { accountId, workspaceId: id }: GuardrailOwner,
): Promise<void> {
  if (!(await lockRow(transaction, 'workspaces', { accountId, id }))) throw noSuchWorkspace();
}
