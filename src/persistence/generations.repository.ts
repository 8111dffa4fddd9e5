// Reads single generations from the log.
import { Injectable } from '@nestjs/common';
import type { Generation } from '../domain/generation.js';
import { Database } from './database.js';
import { toGeneration } from './generation-row.js';

@Injectable()
export class GenerationsRepository {
  constructor(private readonly database: Database) {}

  /**
   * By the whole primary key: the workspaces of the account, the moment, which names the one partition that is looked
   * into, and the id.
   */
  async find(
    accountId: string,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<Generation | null> {
    const workspaces = await this.database.prisma.workspace.findMany({
      select: { id: true },
      where: { accountId },
    });
    const workspaceIds = workspaces.map((workspace) => workspace.id);
    const row = await this.database.prisma.generation.findFirst({
      where: { workspaceId: { in: workspaceIds }, createdAt, id },
    });
    return row && toGeneration(row);
  }
}
