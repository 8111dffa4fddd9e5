// Answers analytics queries from the sums by hour and day where these have the answer, else from the log.
import { Injectable } from '@nestjs/common';
import type { AnalyticsQuery, AnalyticsRow } from '../../domain/generations/analytics.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { percentileOf } from '../../domain/generations/latency-histogram.js';
import type { LatencyCount } from '../../domain/generations/latency-histogram.js';
import type { RollupCursor } from '../rollups/rollup.repository.js';
import type { AnalyticsSources, RefusalTable } from './analytics-rows.js';
import type { HistoryRows, HistoryState } from '../history/history.js';
import {
  countsLatencies,
  hasFirstTokens,
  hasPercentiles,
  isOfRefusals,
  isSummable,
  levelOf,
  readLatencies,
  readResult,
} from './analytics-statements.js';
import { isPercentile, PERCENTILES } from './percentiles.js';
import type { PercentileName, Timing } from './percentiles.js';
import { partsOf, withHistory } from './usage-parts.js';
import type { RangePart } from './usage-parts.js';
import { hasLatencies, rollupOf } from './usage-statements.js';
import { Reports } from '../database/reports.js';
import type { Run } from '../database/database.js';
import { History } from '../history/history.js';
import { READABLE_MINUTE_HOURS } from '../refusals/refusal-statements.js';

const HOUR = 3_600_000;

type Row = AnalyticsRow & Record<string, string | number | null>;

@Injectable()
export class AnalyticsRepository {
  constructor(
    private readonly reports: Reports,
    private readonly history: History,
    private readonly clock: Clock,
  ) {}

  /** One row more than the limit where there are more. */
  async query(requested: AnalyticsQuery): Promise<readonly AnalyticsRow[]> {
    const query = withinWorkspaces(requested);
    if (isOfRefusals(query)) {
      const sources = { parts: [], cursor: null, history: null, refusals: this.refusalsOf(query) };
      return this.reports.read<Row>(query.accountId, readResult(query, sources));
    }
    return this.history.withState((state) =>
      state === null ? this.answer(query, this.partsOf(query), null) : this.answerWithHistory(query, state),
    );
  }

  private refusalsOf({ metrics, granularity, from }: AnalyticsQuery): RefusalTable | null {
    if (!metrics.includes('refused_count')) return null;
    const age = this.clock.now().getTime() - from.getTime();
    const isRecent = granularity === 'minute' || age <= READABLE_MINUTE_HOURS * HOUR;
    return isRecent ? 'refusal_minutes' : 'refusal_hours';
  }

  private partsOf(query: AnalyticsQuery, level = levelOf(query)): readonly RangePart[] {
    const { from, to } = query;
    return isSummable(query)
      ? partsOf(query, { level, now: this.clock.now() })
      : [{ source: 'log' as const, from, to }];
  }

  /** Null: the log has lost rows since the history was read. */
  private async answerWithHistory(
    query: AnalyticsQuery,
    state: HistoryState,
  ): Promise<readonly AnalyticsRow[] | null> {
    const all = this.partsOf(query);
    const begin = state.droppedBefore;
    const prefersHistory = query.granularity !== 'minute' && state.cursor !== null && !hasFirstTokens(query);
    const { spans } = withHistory(all, { begin, prefersHistory });
    if (spans.length === 0) return this.answerOfLog(query, all, begin);
    const isNeeded = withHistory(all, { begin, prefersHistory: false }).spans.length > 0;
    const latencies = !hasPercentiles(query) ? 'none' : isSummable(query) ? 'bucket' : 'latency';
    const rows = await this.history.sums(query, spans, state, latencies).catch((error: unknown) => {
      if (isNeeded || !(error instanceof AppError) || error.code !== 'unavailable') throw error;
      return null;
    });
    if (rows === null) return this.answerOfLog(query, all, begin);
    return this.answer(query, all, { rows, begin, prefersHistory });
  }

  /** Null: the log may have lost rows before they were read. */
  private async answerOfLog(
    query: AnalyticsQuery,
    all: readonly RangePart[],
    begin: Date | null,
  ): Promise<readonly AnalyticsRow[] | null> {
    const answer = await this.answer(query, all, null);
    return (await this.history.isBegin(begin)) ? answer : null;
  }

  private async answer(
    query: AnalyticsQuery,
    all: readonly RangePart[],
    history: ReadHistory | null,
  ): Promise<readonly AnalyticsRow[] | null> {
    const refusals = this.refusalsOf(query);
    if (history === null && all.every(({ source }) => source === 'log')) {
      const statement = readResult(query, { parts: all, cursor: null, history: null, refusals });
      return this.reports.read<Row>(query.accountId, statement);
    }
    const rest = (parts: readonly RangePart[]): readonly RangePart[] =>
      history === null ? parts : withHistory(parts, history).parts;
    // All in one snapshot: rows that a step of the rollup sums in between would be counted twice.
    return this.reports.readTogether(query.accountId, async (read) => {
      if (history !== null && !(await this.history.isBegin(history.begin, read))) return null;
      const [cursor = null] = await read<RollupCursor & Record<string, unknown>>({
        text: rollupOf(levelOf(query)).readCursor,
      });
      const sources = { parts: rest(all), cursor, history: history?.rows ?? null, refusals };
      const rows = await read<Row>(readResult(query, sources));
      if (!countsLatencies(query, sources)) return rows;
      const parts = hasLatencies(levelOf(query)) ? sources.parts : rest(this.partsOf(query, 'key'));
      return withPercentiles(query, rows, { ...sources, parts }, read);
    });
  }
}

/** The answer of the history, and the division of the range that it belongs to. */
interface ReadHistory {
  readonly rows: HistoryRows;
  readonly begin: Date | null;
  readonly prefersHistory: boolean;
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
  const countsOf = async (timing: Timing): Promise<ReadonlyMap<string, LatencyCount[]>> => {
    const counts = new Map<string, LatencyCount[]>();
    const isAsked = rows.length > 0 && percentiles.some((name) => PERCENTILES[name].of === timing);
    const found = isAsked ? await read<Row & LatencyCount>(readLatencies(query, rows, sources, timing)) : [];
    for (const row of found) counts.set(keyOf(row), [...(counts.get(keyOf(row)) ?? []), row]);
    return counts;
  };
  const counted = { latency: await countsOf('latency'), first_token: await countsOf('first_token') };
  const of = (row: Row, name: PercentileName): number | null => {
    const { of: timing, share } = PERCENTILES[name];
    const value = percentileOf(counted[timing].get(keyOf(row)) ?? [], share);
    return value === null ? null : Math.round(value * 1000) / 1000;
  };
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(percentiles.map((name) => [name, of(row, name)])),
  }));
}
