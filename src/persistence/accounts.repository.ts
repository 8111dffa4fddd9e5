// Accounts and their workspaces.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { uuidV7 } from '../domain/identifiers.js';
import { parseUsd } from '../domain/money.js';
import type { AccountCredits } from '../domain/spend.js';
import type { Workspace } from '../domain/workspace.js';
import { BatchReader } from './batch-reader.js';
import { noSuchWorkspace } from './database-errors.js';
import { Database } from './database.js';
import { unseenList } from './unseen-list.js';

export interface AccountWithDefaultWorkspace {
  readonly id: string;
  readonly defaultWorkspaceId: string;
}

// Plain SQL: one of the two stands before most calls of a management key, where Prisma would take a good part of the time.
const FIND_DEFAULT_WORKSPACE = `
SELECT workspace.id, workspace.deleted_at IS NOT NULL AS "isDeleted"
FROM accounts AS account JOIN workspaces AS workspace ON workspace.id = account.default_workspace_id
WHERE account.id = $1`;
/** $1 accounts, $2 workspaces, which belong together by their places. */
const FIND_WORKSPACES = `
SELECT account_id AS "accountId", id FROM workspaces
WHERE (account_id, id) IN (SELECT * FROM unnest(${unseenList('$1', 'uuid')}, ${unseenList('$2', 'uuid')})) AND deleted_at IS NULL`;

type WorkspaceName = Pick<Workspace, 'accountId' | 'id'>;

@Injectable()
export class AccountsRepository {
  private readonly workspaces = new BatchReader<WorkspaceName, WorkspaceName>({
    idOf: nameOf,
    read: async (names) => {
      const found = await this.database.query<{ accountId: string; id: string }>({
        name: 'find-workspaces',
        text: FIND_WORKSPACES,
        values: [names.map(({ accountId }) => accountId), names.map(({ id }) => id)],
      });
      return new Map(found.map((name) => [nameOf(name), name]));
    },
  });

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Creates the account and its default workspace in one transaction. */
  async create(name: string): Promise<AccountWithDefaultWorkspace> {
    const now = this.clock.now();
    const account = { id: uuidV7(now), defaultWorkspaceId: uuidV7(now) };
    await this.database.prisma.$transaction([
      this.database.prisma.account.create({ data: { ...account, name, createdAt: now } }),
      this.database.prisma.workspace.create({
        data: {
          id: account.defaultWorkspaceId,
          accountId: account.id,
          name: 'Default',
          slug: 'default',
          createdAt: now,
        },
      }),
    ]);
    return account;
  }

  async findFirst(): Promise<AccountWithDefaultWorkspace | null> {
    return this.database.prisma.account.findFirst({
      select: { id: true, defaultWorkspaceId: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  }

  async findDefaultWorkspaceId(accountId: string): Promise<string> {
    const [workspace] = await this.database.query<{ id: string; isDeleted: boolean }>({
      name: 'find-default-workspace',
      text: FIND_DEFAULT_WORKSPACE,
      values: [accountId],
    });
    if (!workspace) throw new Error(`no such account: ${accountId}`);
    if (!workspace.isDeleted) return workspace.id;
    throw new AppError('invalid_request', {
      detail: 'workspace_id: the default workspace was deleted, name another one',
    });
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

  /** The workspace that a request names, or the default one. Another account's is told like none (decisions 3). */
  async chooseWorkspace(accountId: string, wanted: string | undefined): Promise<string> {
    if (wanted === undefined) return this.findDefaultWorkspaceId(accountId);
    const workspaceId = wanted.toLowerCase();
    if (await this.workspaces.find({ accountId, id: workspaceId })) return workspaceId;
    throw noSuchWorkspace();
  }

  /** Deleted ones included: the log tells of them. */
  async listWorkspaceIds(accountId: string): Promise<readonly string[]> {
    const workspaces = await this.database.prisma.workspace.findMany({
      select: { id: true },
      where: { accountId },
    });
    return workspaces.map(({ id }) => id);
  }
}

function nameOf({ accountId, id }: WorkspaceName): string {
  return `${accountId} ${id}`;
}
