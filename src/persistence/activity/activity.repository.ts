// Sums of the log by day and endpoint: the rollup's, plus the rows that it has not summed yet.
import { Injectable } from '@nestjs/common';
import type { ActivityRow, ActivityScope } from '../../domain/generations/activity.js';
import type { ApiKey, LastUse } from '../../domain/keys/api-key.js';
import { parseUsd } from '../../domain/spend/money.js';
import { utcDay } from '../../domain/spend/spend.js';
import { cursorValues } from '../rollups/rollup.repository.js';
import type { RollupCursor } from '../rollups/rollup.repository.js';
import { ACTIVITY_ROLLUP, LAST_USE, sumUp } from './activity-statements.js';
import { Database } from '../database/database.js';
import { Reports } from '../database/reports.js';

interface SumsRow {
  readonly date: string;
  readonly model: string;
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly workspaceId: string | null;
  readonly requests: string;
  readonly promptTokens: string;
  readonly usage: string;
  readonly byokUsage: string;
  readonly completionTokens: string;
  readonly reasoningTokens: string;
}

@Injectable()
export class ActivityRepository {
  constructor(
    private readonly reports: Reports,
    private readonly database: Database,
  ) {}

  /** At most `limit` rows, the newest day first. */
  async sumUp(
    { accountId, workspaceIds, apiKeyIds, ownKeys, from, to }: ActivityScope,
    { byWorkspace, limit }: { readonly byWorkspace: boolean; readonly limit: number },
  ): Promise<readonly ActivityRow[]> {
    // Both in one snapshot: rows that a step of the rollup sums in between would be counted twice.
    const rows = await this.reports.readTogether(accountId, async (read) => {
      const cursors = await read<RollupCursor & Record<string, unknown>>({
        text: ACTIVITY_ROLLUP.readCursor,
      });
      return read<SumsRow & Record<string, unknown>>({
        text: sumUp({ byWorkspace, hasOwnKeys: ownKeys !== undefined }),
        values: [
          workspaceIds,
          utcDay(from),
          utcDay(to),
          apiKeyIds,
          limit,
          ...cursors.flatMap(cursorValues),
          ...(ownKeys === undefined ? [] : [ownKeys.workspaceIds, ownKeys.apiKeyIds]),
        ],
      });
    });
    return rows.map(toActivityRow);
  }

  /** By the id of the key. */
  async findLastUse(
    keys: readonly Pick<ApiKey, 'id' | 'workspaceId'>[],
  ): Promise<ReadonlyMap<string, LastUse>> {
    if (keys.length === 0) return new Map();
    const rows = await this.database.query<LastUse & { id: string }>({
      name: 'last-use',
      text: LAST_USE,
      values: [keys.map(({ workspaceId }) => workspaceId), keys.map(({ id }) => id)],
    });
    return new Map(rows.map(({ id, ...lastUse }) => [id, lastUse]));
  }
}

function toActivityRow(row: SumsRow): ActivityRow {
  return {
    ...row,
    requests: Number(row.requests),
    promptTokens: Number(row.promptTokens),
    completionTokens: Number(row.completionTokens),
    reasoningTokens: Number(row.reasoningTokens),
    usage: parseUsd(row.usage),
    byokUsage: parseUsd(row.byokUsage),
  };
}
