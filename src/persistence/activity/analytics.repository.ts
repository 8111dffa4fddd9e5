// Answers analytics queries from the sums by hour and day where these have the answer, else from the log.
import { Injectable } from '@nestjs/common';
import type { AnalyticsQuery, AnalyticsRow } from '../../domain/generations/analytics.js';
import { Clock } from '../../domain/clock.js';
import { percentileOf } from '../../domain/generations/latency-histogram.js';
import type { LatencyCount } from '../../domain/generations/latency-histogram.js';
import type { RollupCursor } from './activity-rollup.repository.js';
import {
  isPercentile,
  isSummable,
  levelOf,
  PERCENTILES,
  readLatencies,
  readResult,
} from './analytics-statements.js';
import type { AnalyticsSources, PercentileName } from './analytics-statements.js';
import { partsOf } from './usage-parts.js';
import { USAGE_ROLLUP } from './usage-statements.js';
import { Reports } from '../database/reports.js';
import type { Run } from '../database/database.js';

type Row = AnalyticsRow & Record<string, string | number | null>;

@Injectable()
export class AnalyticsRepository {
  constructor(
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {}

  /** One row more than the limit where there are more. */
  async query(asked: AnalyticsQuery): Promise<readonly AnalyticsRow[]> {
    const query = withinWorkspaces(asked);
    const { from, to } = query;
    const now = this.clock.now();
    const level = levelOf(query);
    const parts = isSummable(query) ? partsOf(query, { level, now }) : [{ source: 'log' as const, from, to }];
    if (parts.every(({ source }) => source === 'log')) {
      return this.reports.read<Row>(query.accountId, readResult(query, { parts, cursor: null }));
    }
    // All in one snapshot: rows that a step of the rollup sums in between would be counted twice.
    return this.reports.readTogether(query.accountId, async (read) => {
      const [cursor = null] = await read<RollupCursor & Record<string, unknown>>({
        text: USAGE_ROLLUP.readCursor,
      });
      const rows = await read<Row>(readResult(query, { parts, cursor }));
      // Totals of keys have no latencies.
      const withLatencies = level === 'key_total' ? partsOf(query, { level: 'key', now }) : parts;
      return withPercentiles(query, rows, { parts: withLatencies, cursor }, read);
    });
  }
}

/** Filters by workspace choose among the account's: a statement then reads no others. */
function withinWorkspaces(query: AnalyticsQuery): AnalyticsQuery {
  const ofWorkspaces = query.filters.filter(({ dimension }) => dimension === 'workspace');
  return {
    ...query,
    filters: query.filters.filter(({ dimension }) => dimension !== 'workspace'),
    workspaceIds: query.workspaceIds.filter((id) =>
      ofWorkspaces.every(({ isNot, values }) => values.includes(id) !== isNot),
    ),
  };
}

async function withPercentiles(
  query: AnalyticsQuery,
  rows: readonly Row[],
  sources: AnalyticsSources,
  read: Run,
): Promise<readonly AnalyticsRow[]> {
  const percentiles = query.metrics.filter(isPercentile);
  const groups = [...(query.granularity === null ? [] : ['date']), ...query.dimensions];
  const keyOf = (row: AnalyticsRow): string => JSON.stringify(groups.map((name) => row[name]));
  const counts = new Map<string, LatencyCount[]>();
  if (percentiles.length > 0 && rows.length > 0) {
    for (const row of await read<Row & LatencyCount>(readLatencies(query, rows, sources))) {
      const key = keyOf(row);
      counts.set(key, [...(counts.get(key) ?? []), row]);
    }
  }
  const of = (row: Row, name: PercentileName): number | null => {
    const value = percentileOf(counts.get(keyOf(row)) ?? [], PERCENTILES[name]);
    return value === null ? null : Math.round(value * 1000) / 1000;
  };
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(percentiles.map((name) => [name, of(row, name)])),
  }));
}
