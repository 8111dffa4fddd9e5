// Answers analytics queries from the sums by hour and day where these have the answer, else from the log.
import { Injectable } from '@nestjs/common';
import type { AnalyticsQuery, AnalyticsRow } from '../../domain/generations/analytics.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { percentileOf } from '../../domain/generations/latency-histogram.js';
import type { LatencyCount } from '../../domain/generations/latency-histogram.js';
import type { RollupCursor } from '../rollups/rollup.repository.js';
import type { AnalyticsSources, RefusalTable } from './analytics-rows.js';
import type { HistoryState } from '../history/history.js';
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
import { hasLatencies, KEY_HOUR_DAYS, rollupOf } from './usage-statements.js';
import { Reports } from '../database/reports.js';
import type { Run } from '../database/database.js';
import { History } from '../history/history.js';
import { READABLE_MINUTE_HOURS } from '../refusals/refusal-statements.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

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
    const scopes = scopesOf(query);
    if (scopes.length === 0) return [];
    this.checkHours(query);
    if (isOfRefusals(query)) {
      const refusals = this.refusalsOf(query);
      const sources = scopes.map((scope) => ({
        query: scope,
        parts: [],
        cursor: null,
        history: null,
        refusals,
      }));
      return this.reports.read<Row>(query.accountId, readResult(query, sources));
    }
    const plans = scopes.map((scope) => ({ query: scope, parts: this.partsOf(scope), history: null }));
    return this.history.withState((state) =>
      state === null ? this.answer(query, plans, null) : this.answerWithHistory(query, plans, state),
    );
  }

  /** Without sums of their hours the log would be read, which has no index by key: all calls of the workspaces. */
  private checkHours({ ownKeys, granularity, from }: AnalyticsQuery): void {
    const age = this.clock.now().getTime() - from.getTime();
    if (granularity !== 'hour' || age <= KEY_HOUR_DAYS * DAY + HOUR) return;
    if (ownKeys === undefined || ownKeys.workspaceIds.length === 0) return;
    throw new AppError('invalid_request', {
      detail: `granularity: hour is for a time_range within the last ${KEY_HOUR_DAYS} days where the role is for own keys`,
    });
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
    plans: readonly ScopePlan[],
    state: HistoryState,
  ): Promise<readonly AnalyticsRow[] | null> {
    const begin = state.droppedBefore;
    const prefersHistory = query.granularity !== 'minute' && state.cursor !== null && !hasFirstTokens(query);
    const isAsked = (prefers: boolean): boolean =>
      plans.some(({ parts }) => withHistory(parts, { begin, prefersHistory: prefers }).spans.length > 0);
    if (!isAsked(prefersHistory)) return this.answerOfLog(query, plans, begin);
    const isNeeded = isAsked(false);
    const read = await this.readHistory(plans, state, prefersHistory).catch((error: unknown) => {
      if (isNeeded || !(error instanceof AppError) || error.code !== 'unavailable') throw error;
      return null;
    });
    if (read === null) return this.answerOfLog(query, plans, begin);
    return this.answer(query, read, { begin, prefersHistory });
  }

  private async readHistory(
    plans: readonly ScopePlan[],
    state: HistoryState,
    prefersHistory: boolean,
  ): Promise<readonly ScopePlan[]> {
    const read: ScopePlan[] = [];
    for (const { query, parts } of plans) {
      const { spans } = withHistory(parts, { begin: state.droppedBefore, prefersHistory });
      const latencies = !hasPercentiles(query) ? 'none' : isSummable(query) ? 'bucket' : 'latency';
      const history = spans.length === 0 ? null : await this.history.sums(query, spans, state, latencies);
      read.push({ query, parts, history });
    }
    return read;
  }

  /** Null: the log may have lost rows before they were read. */
  private async answerOfLog(
    query: AnalyticsQuery,
    plans: readonly ScopePlan[],
    begin: Date | null,
  ): Promise<readonly AnalyticsRow[] | null> {
    const answer = await this.answer(query, plans, null);
    return (await this.history.isBegin(begin)) ? answer : null;
  }

  private async answer(
    query: AnalyticsQuery,
    plans: readonly ScopePlan[],
    division: HistoryDivision | null,
  ): Promise<readonly AnalyticsRow[] | null> {
    const refusals = this.refusalsOf(query);
    const isOfLog = plans.every(({ parts }) => parts.every(({ source }) => source === 'log'));
    if (division === null && isOfLog) {
      const sources = plans.map((plan) => ({ ...plan, cursor: null, refusals }));
      return this.reports.read<Row>(query.accountId, readResult(query, sources));
    }
    const rest = (parts: readonly RangePart[]): readonly RangePart[] =>
      division === null ? parts : withHistory(parts, division).parts;
    // All in one snapshot: rows that a step of the rollup sums in between would be counted twice.
    return this.reports.readTogether(query.accountId, async (read) => {
      if (division !== null && !(await this.history.isBegin(division.begin, read))) return null;
      // Levels of users have a rollup of their own; the scopes of a query are all of users, or none is.
      const [cursor = null] = await read<RollupCursor & Record<string, unknown>>({
        text: rollupOf(levelOf(query)).readCursor,
      });
      const sources = plans.map((plan) => ({ ...plan, parts: rest(plan.parts), cursor, refusals }));
      const rows = await read<Row>(readResult(query, sources));
      if (!countsLatencies(query, sources)) return rows;
      const withParts = (scope: AnalyticsSources): AnalyticsSources =>
        hasLatencies(levelOf(scope.query))
          ? scope
          : { ...scope, parts: rest(this.partsOf(scope.query, 'key')) };
      const withLatencies = sources.map(withParts);
      return withPercentiles(query, rows, withLatencies, read);
    });
  }
}

/** One scope of a query, the parts of its range, and the rows of the history; null: none were asked for. */
type ScopePlan = Pick<AnalyticsSources, 'query' | 'parts' | 'history'>;

/** The division of the range that the rows of the history belong to. */
interface HistoryDivision {
  readonly begin: Date | null;
  readonly prefersHistory: boolean;
}

/** One query for the whole workspaces, and one for the keys: each reads the sums that have the fewest rows for it. */
function scopesOf({ ownKeys, ...query }: AnalyticsQuery): readonly AnalyticsQuery[] {
  const scopes = query.workspaceIds.length === 0 ? [] : [query];
  if (ownKeys === undefined || ownKeys.workspaceIds.length === 0) return scopes;
  const isOwn = { dimension: 'api_key_id', isNot: false, values: ownKeys.apiKeyIds } as const;
  return [...scopes, { ...query, workspaceIds: ownKeys.workspaceIds, filters: [...query.filters, isOwn] }];
}

/** Filters by workspace choose among the account's: a statement then reads no others. */
function withinWorkspaces(query: AnalyticsQuery): AnalyticsQuery {
  const ofWorkspaces = query.filters.filter(({ dimension }) => dimension === 'workspace');
  const isChosen = (id: string): boolean =>
    ofWorkspaces.every(({ isNot, values }) => values.includes(id) !== isNot);
  const { ownKeys } = query;
  return {
    ...query,
    filters: query.filters.filter(({ dimension }) => dimension !== 'workspace'),
    workspaceIds: query.workspaceIds.filter(isChosen),
    ownKeys: ownKeys && { ...ownKeys, workspaceIds: ownKeys.workspaceIds.filter(isChosen) },
  };
}

async function withPercentiles(
  query: AnalyticsQuery,
  rows: readonly Row[],
  sources: readonly AnalyticsSources[],
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
