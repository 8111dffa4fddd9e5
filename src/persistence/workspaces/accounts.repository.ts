import { Injectable } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Manager } from '../../domain/people/manager.js';
import { parseUsd } from '../../domain/spend/money.js';
import { workspacesInReach } from '../../domain/people/manager.js';
import type { Scope } from '../../domain/people/manager.js';
import type { AccountCredits } from '../../domain/spend/spend.js';
import type { Workspace } from '../../domain/workspace.js';
import { noSuchWorkspace } from '../database/database-errors.js';
import { Database } from '../database/database.js';

export interface AccountWithDefaultWorkspace {
  readonly id: string;
  readonly defaultWorkspaceId: string;
}

const DEFAULT_WORKSPACE = { name: 'Default', slug: 'default' };

// Plain SQL: one of the two precedes most calls of a management key, where Prisma would take a good part of the time.
const FIND_DEFAULT_WORKSPACE = `
SELECT workspace.id, workspace.deleted_at IS NOT NULL AS "isDeleted"
FROM accounts AS account JOIN workspaces AS workspace ON workspace.id = account.default_workspace_id
WHERE account.id = $1`;
const FIND_WORKSPACE = `
SELECT id, deleted_at IS NOT NULL AS "isDeleted" FROM workspaces WHERE account_id = $1 AND id = $2`;

type WorkspaceName = Pick<Workspace, 'accountId' | 'id'>;

export interface AccountNames {
  readonly account: string;
  readonly workspace: string;
}

export interface AccountPlace {
  readonly accountName: string;
  readonly workspace: { readonly id: string; readonly name: string } | null;
}

/** The default workspace is among the oldest. */
const MAX_PLACES = 100;

interface FoundWorkspace {
  readonly id: string;
  readonly isDeleted: boolean;
}

@Injectable()
export class AccountsRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Creates the account and its default workspace in one transaction. */
  async create(name: string): Promise<AccountWithDefaultWorkspace> {
    const now = this.clock.now();
    const account = { id: uuidV7(now), defaultWorkspaceId: uuidV7(now) };
    await this.database.transact(async (transaction) => {
      await transaction.account.create({ data: { ...account, name, createdAt: now } });
      await transaction.workspace.create({
        data: { ...DEFAULT_WORKSPACE, id: account.defaultWorkspaceId, accountId: account.id, createdAt: now },
      });
    });
    return account;
  }

  async findFirstId(): Promise<string | null> {
    const account = await this.database.prisma.account.findFirst({
      select: { id: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return account?.id ?? null;
  }

  /**
   * For keys that are created outside the API, when the account may have locked itself out. Returns the default
   * workspace, or the oldest of the others if it was deleted; if all were deleted, it creates a new default one.
   */
  async ensureWorkspace(accountId: string): Promise<string> {
    const { id, isDeleted } = await this.findDefaultWorkspace(accountId);
    if (!isDeleted) return id;
    const other = await this.database.prisma.workspace.findFirst({
      select: { id: true },
      where: { accountId, deletedAt: null },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return other?.id ?? this.replaceDefaultWorkspace(accountId);
  }

  async findNames({ accountId, id }: WorkspaceName): Promise<AccountNames> {
    const { name, account } = await this.database.prisma.workspace.findUniqueOrThrow({
      select: { name: true, account: { select: { name: true } } },
      where: { accountId_id: { accountId, id } },
    });
    return { workspace: name, account: account.name };
  }

  /**
   * The account's name, and the workspace that pages begin with: the default one, else the oldest. `workspaceIds`: those that
   * may be shown; null: all.
   */
  async findPlace(accountId: string, workspaceIds: readonly string[] | null): Promise<AccountPlace> {
    const id = workspaceIds === null ? {} : { id: { in: [...workspaceIds] } };
    const { name, defaultWorkspaceId, workspaces } = await this.database.prisma.account.findUniqueOrThrow({
      select: {
        name: true,
        defaultWorkspaceId: true,
        workspaces: {
          select: { id: true, name: true },
          where: { ...id, deletedAt: null },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          take: MAX_PLACES,
        },
      },
      where: { id: accountId },
    });
    const chosen = workspaces.find((workspace) => workspace.id === defaultWorkspaceId) ?? workspaces[0];
    return { accountName: name, workspace: chosen ?? null };
  }

  private async replaceDefaultWorkspace(accountId: string): Promise<string> {
    const now = this.clock.now();
    const id = uuidV7(now);
    await this.database.transact(async (transaction) => {
      await transaction.workspace.create({ data: { ...DEFAULT_WORKSPACE, id, accountId, createdAt: now } });
      await transaction.account.update({ where: { id: accountId }, data: { defaultWorkspaceId: id } });
    });
    return id;
  }

  private async findDefaultWorkspace(accountId: string): Promise<FoundWorkspace> {
    const [workspace] = await this.database.query<FoundWorkspace>({
      name: 'find-default-workspace',
      text: FIND_DEFAULT_WORKSPACE,
      values: [accountId],
    });
    if (!workspace) throw new Error(`no such account: ${accountId}`);
    return workspace;
  }

  /** The default workspace; the oldest within reach, if that one is not. */
  private async findDefaultWithin({ accountId, reach }: Scope): Promise<string> {
    const ids = workspacesInReach(reach);
    const workspace = await this.findDefaultWorkspace(accountId);
    if (ids === null && workspace.isDeleted)
      throw new AppError('invalid_request', {
        detail: 'workspace_id: the default workspace was deleted, name another one',
      });
    if (ids === null || (ids.includes(workspace.id) && !workspace.isDeleted)) return workspace.id;
    const first = await this.database.prisma.workspace.findFirst({
      select: { id: true },
      where: { accountId, id: { in: [...ids] }, deletedAt: null },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    if (first) return first.id;
    throw noSuchWorkspace();
  }

  async getCredits(accountId: string): Promise<AccountCredits> {
    const { credits, spend } = await this.database.prisma.account.findUniqueOrThrow({
      select: { credits: true, spend: { select: { total: true } } },
      where: { id: accountId },
    });
    return {
      bought: credits === null ? null : parseUsd(credits.toFixed()),
      spent: spend === null ? 0n : parseUsd(spend.total.toFixed()),
    };
  }

  async isDefaultWorkspace({ accountId, id }: WorkspaceName): Promise<boolean> {
    const account = await this.database.prisma.account.findUniqueOrThrow({
      select: { defaultWorkspaceId: true },
      where: { id: accountId },
    });
    return account.defaultWorkspaceId === id;
  }

  /**
   * The workspace that a request names, or the default one. Another account's, and one that is not within reach, is reported
   * like a missing one (docs/contract.md#tenancy).
   */
  async chooseWorkspace(scope: Scope, wanted: string | undefined): Promise<string> {
    if (wanted === undefined) return this.findDefaultWithin(scope);
    const workspace = await this.findWithin(scope, wanted);
    if (workspace && !workspace.isDeleted) return workspace.id;
    throw noSuchWorkspace();
  }

  /** Like chooseWorkspace(), including deleted ones: management keys outlive theirs. */
  async chooseWorkspaceOfKeys(scope: Scope, wanted: string | undefined): Promise<string> {
    const isLimited = workspacesInReach(scope.reach) !== null;
    if (wanted === undefined && isLimited) return this.findDefaultWithin(scope);
    const workspace =
      wanted === undefined
        ? await this.findDefaultWorkspace(scope.accountId)
        : await this.findWithin(scope, wanted);
    if (workspace) return workspace.id;
    throw noSuchWorkspace();
  }

  private async findWithin({ accountId, reach }: Scope, wanted: string): Promise<FoundWorkspace | null> {
    const id = wanted.toLowerCase();
    if (workspacesInReach(reach)?.includes(id) === false) return null;
    const [workspace] = await this.database.query<FoundWorkspace>({
      name: 'find-workspace',
      text: FIND_WORKSPACE,
      values: [accountId, id],
    });
    return workspace ?? null;
  }

  /** Includes deleted ones: the log names them. */
  async listWorkspaceIds(accountId: string): Promise<readonly string[]> {
    const workspaces = await this.database.prisma.workspace.findMany({
      select: { id: true },
      where: { accountId },
    });
    return workspaces.map(({ id }) => id);
  }

  /** Those of them where the manager's right holds, for own keys as well. */
  async listWorkspaceIdsWithin({ accountId, reach }: Manager): Promise<readonly string[]> {
    const ids = workspacesInReach(reach);
    const all = await this.listWorkspaceIds(accountId);
    return ids === null ? all : all.filter((id) => ids.includes(id));
  }
}
