// Accounts and their workspaces.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { uuidV7 } from '../domain/identifiers.js';
import { Database } from './database.js';

export interface AccountWithDefaultWorkspace {
  readonly id: string;
  readonly defaultWorkspaceId: string;
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
    const account = await this.database.prisma.account.findUniqueOrThrow({
      select: { defaultWorkspaceId: true },
      where: { id: accountId },
    });
    return account.defaultWorkspaceId;
  }

  async hasWorkspace(accountId: string, workspaceId: string): Promise<boolean> {
    const workspace = await this.database.prisma.workspace.findUnique({
      select: { id: true },
      where: { accountId_id: { accountId, id: workspaceId } },
    });
    return workspace !== null;
  }
}
