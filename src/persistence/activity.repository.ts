// Sums of the log by day and endpoint.
import { Injectable } from '@nestjs/common';
import type { ActivityRow, ActivityScope } from '../domain/activity.js';
import { parseUsd } from '../domain/money.js';
import { Reports } from './reports.js';

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
}

/**
 * Plain SQL, for sums by a day of UTC. The bounds on workspace_id and created_at are a range of the primary key, and
 * leave out the partitions of other months.
 */
const sums = (workspace: 'workspace_id' | 'NULL::uuid') => `
SELECT (created_at AT TIME ZONE 'UTC')::date::text AS date, model, endpoint, provider,
  ${workspace} AS "workspaceId", count(*)::text AS requests, sum(prompt_tokens)::text AS "promptTokens",
  coalesce(sum(cost), 0)::text AS usage, coalesce(sum(upstream_cost) FILTER (WHERE is_byok), 0)::text AS "byokUsage"
FROM generations
WHERE workspace_id = ANY($1::uuid[]) AND created_at >= $2 AND created_at < $3
  AND ($4::uuid[] IS NULL OR api_key_id = ANY($4::uuid[]))
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1 DESC, 2, 3, 4, 5 LIMIT $5`;
const SUMS = sums('NULL::uuid');
const SUMS_BY_WORKSPACE = sums('workspace_id');

@Injectable()
export class ActivityRepository {
  constructor(private readonly reports: Reports) {}

  /** At most `limit` rows, the newest day first. */
  async sumUp(
    { workspaceIds, apiKeyIds, from, to }: ActivityScope,
    { byWorkspace, limit }: { readonly byWorkspace: boolean; readonly limit: number },
  ): Promise<readonly ActivityRow[]> {
    const rows = await this.reports.read<SumsRow>({
      text: byWorkspace ? SUMS_BY_WORKSPACE : SUMS,
      values: [workspaceIds, from, to, apiKeyIds, limit],
    });
    return rows.map(toActivityRow);
  }
}

function toActivityRow(row: SumsRow): ActivityRow {
  return {
    ...row,
    requests: Number(row.requests),
    promptTokens: Number(row.promptTokens),
    usage: parseUsd(row.usage),
    byokUsage: parseUsd(row.byokUsage),
  };
}
