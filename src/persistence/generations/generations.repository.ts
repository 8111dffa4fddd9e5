import { Injectable } from '@nestjs/common';
import { keyIdsIn, workspacesOfReach } from '../../domain/generations/call-reach.js';
import type { CallReach, ListedReach } from '../../domain/generations/call-reach.js';
import type { Manager } from '../../domain/people/manager.js';
import type { Generation } from '../../domain/generations/generation.js';
import { Database } from '../database/database.js';
import { History } from '../history/history.js';
import { CallReaches } from './call-reaches.js';
import { toGeneration } from './generation-row.js';

/**
 * $1 account, $2 and $3 time and id of a generation, $4 workspaces (null: all). LIMIT keeps the look-up by the primary key, workspace
 * by workspace.
 */
const FIND_WORKSPACE_OF = `
SELECT workspace.id FROM workspaces AS workspace CROSS JOIN LATERAL (
  SELECT FROM generations WHERE workspace_id = workspace.id AND created_at = $2 AND id = $3 LIMIT 1
) AS found
WHERE workspace.account_id = $1 AND ($4::uuid[] IS NULL OR workspace.id = ANY($4::uuid[])) LIMIT 1`;

/**
 * $1 account, $2 the provider's id, $3 workspaces within reach (null: all), $4 keys beside them. Calls of the wires whose answers carry
 * this id.
 */
const FIND_BY_UPSTREAM_ID = `
SELECT id, created_at AS "createdAt" FROM generations
WHERE account_id = $1 AND upstream_id = $2 AND (chat ->> 'wire') IS NOT NULL
  AND ($3::uuid[] IS NULL OR workspace_id = ANY($3::uuid[]) OR api_key_id = ANY($4::uuid[]))
ORDER BY created_at DESC LIMIT 1`;

@Injectable()
export class GenerationsRepository {
  constructor(
    private readonly database: Database,
    private readonly history: History,
    private readonly reaches: CallReaches,
  ) {}

  /**
   * Looks up by the whole primary key: the workspaces within reach, the time, which selects the one partition, and the
   * id. A call out of reach is null, as one that does not exist.
   */
  async find(
    manager: Manager,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<Generation | null> {
    const { accountId } = manager;
    const reach = await this.reaches.of(manager);
    const workspaceId = await this.findWorkspaceId(accountId, reach, { id, createdAt });
    const row =
      workspaceId === undefined
        ? null
        : await this.database.prisma.generation.findFirst({
            where: { workspaceId, createdAt, id, ...isOfKeys(keyIdsIn(reach, workspaceId)) },
          });
    if (row) return toGeneration(row);
    const readReach = async (): Promise<ListedReach> => ({
      ...reach,
      workspaceIds: reach.workspaceIds ?? (await this.listWorkspaceIds(accountId)),
    });
    return this.history.find({ accountId, readReach, id, createdAt });
  }

  /** By the provider's id, which its answer carries: in the log only. The latest of several calls. */
  async findKey(manager: Manager, upstreamId: string): Promise<Pick<Generation, 'id' | 'createdAt'> | null> {
    const { workspaceIds, keys } = await this.reaches.of(manager);
    const [found = null] = await this.database.query<Pick<Generation, 'id' | 'createdAt'>>({
      text: FIND_BY_UPSTREAM_ID,
      values: [manager.accountId, upstreamId, workspaceIds, keys.map((key) => key.id)],
    });
    return found;
  }

  private async findWorkspaceId(
    accountId: string,
    reach: CallReach,
    { id, createdAt }: Pick<Generation, 'id' | 'createdAt'>,
  ): Promise<string | undefined> {
    const workspaceIds = workspacesOfReach(reach);
    if (workspaceIds !== null && workspaceIds.length <= 1) return workspaceIds[0];
    const [found] = await this.database.query<{ id: string }>({
      text: FIND_WORKSPACE_OF,
      values: [accountId, createdAt, id, workspaceIds],
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

function isOfKeys(ids: readonly string[] | undefined): { apiKeyId?: { in: string[] } } {
  return ids === undefined ? {} : { apiKeyId: { in: [...ids] } };
}
