import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Generation } from '../../domain/generations/generation.js';
import { Database } from '../database/database.js';
import { toGeneration } from './generation-row.js';

@Injectable()
export class GenerationsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Looks up by the whole primary key: the workspaces that the key may read, the time, which selects the one
   * partition, and the id. An inference key reads its own calls only.
   */
  async find(
    reader: Pick<ApiKey, 'id' | 'accountId' | 'workspaceId' | 'kind'>,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<Generation | null> {
    const row = await this.database.prisma.generation.findFirst({
      where:
        reader.kind === 'management'
          ? { workspaceId: { in: await this.listWorkspaceIds(reader.accountId) }, createdAt, id }
          : { workspaceId: reader.workspaceId, createdAt, id, apiKeyId: reader.id },
    });
    return row && toGeneration(row);
  }

  /** Includes deleted workspaces: their calls stay readable. */
  private async listWorkspaceIds(accountId: string): Promise<string[]> {
    const workspaces = await this.database.prisma.workspace.findMany({
      select: { id: true },
      where: { accountId },
    });
    return workspaces.map(({ id }) => id);
  }
}
