import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Generation } from '../../domain/generations/generation.js';
import { Database } from '../database/database.js';
import { HistoryReader } from '../history/history-reader.js';
import { toGeneration } from './generation-row.js';

@Injectable()
export class GenerationsRepository {
  constructor(
    private readonly database: Database,
    private readonly history: HistoryReader,
  ) {}

  /**
   * Looks up by the whole primary key: the workspaces that the key may read, the time, which selects the one
   * partition, and the id. An inference key reads its own calls only.
   */
  async find(
    reader: Pick<ApiKey, 'id' | 'accountId' | 'workspaceId' | 'kind'>,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<Generation | null> {
    const isManagement = reader.kind === 'management';
    const workspaceIds = isManagement ? await this.listWorkspaceIds(reader.accountId) : [reader.workspaceId];
    const apiKeyId = isManagement ? undefined : reader.id;
    const row = await this.database.prisma.generation.findFirst({
      where: {
        workspaceId: { in: workspaceIds },
        createdAt,
        id,
        ...(apiKeyId === undefined ? {} : { apiKeyId }),
      },
    });
    if (row) return toGeneration(row);
    return this.history.find({ accountId: reader.accountId, workspaceIds, apiKeyId, id, createdAt });
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
