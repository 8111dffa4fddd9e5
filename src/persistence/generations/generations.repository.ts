import { Injectable } from '@nestjs/common';
import { inferenceKeyOf } from '../../domain/people/manager.js';
import type { Manager } from '../../domain/people/manager.js';
import type { Generation } from '../../domain/generations/generation.js';
import { Database } from '../database/database.js';
import { History } from '../history/history.js';
import { toGeneration } from './generation-row.js';

/** $1 account, $2 and $3 time and id of a generation. LIMIT keeps the look-up by the primary key, workspace by workspace. */
const FIND_WORKSPACE_OF = `
SELECT workspace.id FROM workspaces AS workspace CROSS JOIN LATERAL (
  SELECT FROM generations WHERE workspace_id = workspace.id AND created_at = $2 AND id = $3 LIMIT 1
) AS found
WHERE workspace.account_id = $1 LIMIT 1`;

/** $1 account, $2 the provider's id, $3 the key that reads or null. Calls of the wires whose answers carry this id. */
const FIND_BY_UPSTREAM_ID = `
SELECT id, created_at AS "createdAt" FROM generations
WHERE account_id = $1 AND upstream_id = $2 AND (chat ->> 'wire') IS NOT NULL
  AND ($3::uuid IS NULL OR api_key_id = $3)
ORDER BY created_at DESC LIMIT 1`;

@Injectable()
export class GenerationsRepository {
  constructor(
    private readonly database: Database,
    private readonly history: History,
  ) {}

  /**
   * Looks up by the whole primary key: the workspaces that the key may read, the time, which selects the one
   * partition, and the id. An inference key reads its own calls only.
   */
  async find(
    manager: Manager,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<Generation | null> {
    const ownKey = inferenceKeyOf(manager);
    const apiKeyId = ownKey?.id;
    const workspaceId = ownKey
      ? ownKey.workspaceId
      : await this.findWorkspaceId(manager.accountId, { id, createdAt });
    const row =
      workspaceId === undefined
        ? null
        : await this.database.prisma.generation.findFirst({
            where: { workspaceId, createdAt, id, ...(apiKeyId === undefined ? {} : { apiKeyId }) },
          });
    if (row) return toGeneration(row);
    const listWorkspaceIds = async (): Promise<readonly string[]> =>
      ownKey ? [ownKey.workspaceId] : this.listWorkspaceIds(manager.accountId);
    return this.history.find({ accountId: manager.accountId, listWorkspaceIds, apiKeyId, id, createdAt });
  }

  /** By the provider's id, which its answer carries: in the log only. The latest of several calls. */
  async findKey(manager: Manager, upstreamId: string): Promise<Pick<Generation, 'id' | 'createdAt'> | null> {
    const [found = null] = await this.database.query<Pick<Generation, 'id' | 'createdAt'>>({
      text: FIND_BY_UPSTREAM_ID,
      values: [manager.accountId, upstreamId, inferenceKeyOf(manager)?.id ?? null],
    });
    return found;
  }

  private async findWorkspaceId(
    accountId: string,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<string | undefined> {
    const [found] = await this.database.query<{ id: string }>({
      text: FIND_WORKSPACE_OF,
      values: [accountId, createdAt, id],
    });
    return found?.id;
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
