// The spend of a period, in groups and by day: sums, which parts of the period add up to.
import { queryOptions } from '@tanstack/react-query';
import { roundUsd } from '../format';
import { loadAnalytics, numberOf, textOf, timeOf, withinWorkspace } from './analytics';
import type { AnalyticsQuery, AnalyticsRow } from './analytics';
import { isoTime } from './iso-time';

export type Dimension = NonNullable<AnalyticsQuery['dimensions']>[number];

const SUMS = [
  'request_count',
  'error_count',
  'refused_count',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'byok_usage',
  'total_usage',
] as const satisfies AnalyticsQuery['metrics'];
export type Sum = (typeof SUMS)[number];

export interface UsageGroup {
  /** The value of each dimension; null: the calls have none. */
  readonly values: readonly (string | null)[];
  /** `refused_count` is 0 where `Usage` does not count it. */
  readonly sums: Sums;
}

export type Sums = Readonly<Record<Sum, number>>;

export interface UsageGroups {
  /** Highest spend first. */
  readonly groups: readonly UsageGroup[];
  /** False: an hour has more groups than an answer. */
  readonly isWhole: boolean;
}

export interface Usage extends UsageGroups {
  /** Groups beyond those of one answer; null: there are none. */
  readonly others: Sums | null;
  /** The end of all questions, for those that follow. */
  readonly end: number;
  /** False: refused calls have no such dimensions, or are older than their counts. */
  readonly hasRefusedGroups: boolean;
  /** False: refused calls of the period are older than their counts. */
  readonly hasRefusedDays: boolean;
  /** By the start of the day, of all groups. */
  readonly days: ReadonlyMap<number, Sums>;
  /** Of the groups of the first dimension that spent most: their values by day. */
  readonly leaders: readonly UsageLeader[];
}

export interface UsageLeader {
  readonly value: string;
  readonly days: ReadonlyMap<number, Sums>;
}

export interface UsageScope {
  readonly start: number;
  readonly end: number;
  /** Null: the whole account. */
  readonly workspaceId: string | null;
  readonly dimensions: readonly Dimension[];
}

const HOUR_MS = 3_600_000;
// The longest range of a query.
const MAX_RANGE_MS = 90 * 24 * HOUR_MS;
const MAX_ROWS = 1000;
const LEADERS = 5;
// How long refused calls are counted, but for the day that is being dropped.
const REFUSALS_MS = 99 * 24 * HOUR_MS;
const REFUSAL_DIMENSIONS: ReadonlySet<Dimension> = new Set(['api_key_id', 'workspace']);

type Part = Omit<AnalyticsQuery, 'time_range' | 'limit'>;

export const usageQuery = (scope: UsageScope) =>
  queryOptions({
    queryKey: ['usage', scope],
    queryFn: async ({ signal }): Promise<Usage> => {
      const range = rangeOf(scope);
      const filters = withinWorkspace(scope.workspaceId);
      const dimensions = [...scope.dimensions];
      const { hasRefusedDays, hasRefusedGroups } = refusedOf(scope);
      const [grouped, byDay] = await Promise.all([
        loadRows(partOfGroups(scope), range, signal, isOneQuestion(range)),
        loadRows({ metrics: metricsOf(hasRefusedDays), filters, granularity: 'day' }, range, signal),
      ]);
      const groups = sumUp(grouped.rows, dimensions);
      const days = daysOf(byDay.rows);
      const [first = 'model'] = dimensions;
      const leading = leadersOf(groups);
      const leaderRows =
        leading.length === 0
          ? []
          : (
              await loadRows(
                {
                  metrics: metricsOf(false),
                  filters: [...filters, { field: first, operator: 'in', value: [...leading] }],
                  dimensions: [first],
                  granularity: 'day',
                },
                range,
                signal,
              )
            ).rows;
      return {
        groups,
        others: grouped.isWhole || !isOneQuestion(range) ? null : othersOf(groups, days, hasRefusedGroups),
        isWhole: grouped.isWhole || isOneQuestion(range),
        end: range.end,
        hasRefusedGroups,
        hasRefusedDays,
        days,
        leaders: leading.map((value) => ({
          value,
          days: daysOf(leaderRows.filter((row) => row[first] === value)),
        })),
      };
    },
    staleTime: 15_000,
  });

/**
 * One range for all questions, so that chart and table count the same calls. Whole months and days, also those that have not
 * ended: the service answers them from its sums. A longer range is divided, and ends now.
 */
function rangeOf({ start, end }: UsageScope): Range {
  return isOneQuestion({ start, end })
    ? { start, end }
    : { start, end: Math.max(start + 1000, Math.min(end, Date.now() + 1000)) };
}

/** All groups of what `usage` shows, those in `others` one by one. */
export async function loadAllGroups(scope: UsageScope, usage: Usage): Promise<UsageGroups> {
  if (usage.others === null) return usage;
  const { rows, isWhole } = await loadRows(partOfGroups(scope), { start: scope.start, end: usage.end });
  return { groups: sumUp(rows, scope.dimensions), isWhole };
}

function refusedOf({ start, dimensions }: UsageScope): Pick<Usage, 'hasRefusedDays' | 'hasRefusedGroups'> {
  const hasRefusedDays = start >= Date.now() - REFUSALS_MS;
  return {
    hasRefusedDays,
    hasRefusedGroups: hasRefusedDays && dimensions.every((dimension) => REFUSAL_DIMENSIONS.has(dimension)),
  };
}

const partOfGroups = (scope: UsageScope): Part => ({
  metrics: metricsOf(refusedOf(scope).hasRefusedGroups),
  filters: withinWorkspace(scope.workspaceId),
  dimensions: [...scope.dimensions],
  order_by: { field: 'total_usage', direction: 'desc' },
});

/** Sums of several answers that are cut lack groups that another part of the period has. */
const isOneQuestion = ({ start, end }: Range): boolean => end - start <= MAX_RANGE_MS;

const NO_SUMS = Object.fromEntries(SUMS.map((sum) => [sum, 0])) as Sums;

/** The sums of all days without those of the groups. Calls that arrive between two questions are counted by one of them. */
function othersOf(groups: readonly UsageGroup[], days: Usage['days'], hasRefused: boolean): Sums {
  const all = [...days.values()].reduce(addSums, NO_SUMS);
  const named = groups.reduce((sums, group) => addSums(sums, group.sums), NO_SUMS);
  return Object.fromEntries(
    SUMS.map((sum) => [
      sum,
      sum === 'refused_count' && !hasRefused ? 0 : Math.max(0, roundUsd(all[sum] - named[sum])),
    ]),
  ) as Sums;
}

export const metricsOf = (hasRefused: boolean): Sum[] =>
  SUMS.filter((sum) => hasRefused || sum !== 'refused_count');

interface Range {
  readonly start: number;
  readonly end: number;
}

interface Rows {
  readonly rows: readonly AnalyticsRow[];
  readonly isWhole: boolean;
}

/** All rows, or as many as one answer has: a range that is too long, or whose answer is cut, is asked for in halves. */
async function loadRows(
  part: Part,
  { start, end }: Range,
  signal?: AbortSignal,
  isOneAnswer = false,
): Promise<Rows> {
  if (end - start <= MAX_RANGE_MS) {
    const body = {
      ...part,
      time_range: { start: isoTime(start), end: isoTime(end) },
      limit: MAX_ROWS,
    };
    const { rows, isTruncated } = await loadAnalytics(body, signal);
    if (!isTruncated || isOneAnswer || end - start <= HOUR_MS) return { rows, isWhole: !isTruncated };
  }
  const unit = end - start > 2 * 24 * HOUR_MS ? 24 * HOUR_MS : HOUR_MS;
  const middle = Math.min(start + Math.max(1, Math.floor((end - start) / 2 / unit)) * unit, end - 1000);
  const former = await loadRows(part, { start, end: middle }, signal);
  const latter = await loadRows(part, { start: middle, end }, signal);
  return { rows: [...former.rows, ...latter.rows], isWhole: former.isWhole && latter.isWhole };
}

const sumsOf = (row: AnalyticsRow): Sums =>
  Object.fromEntries(SUMS.map((sum) => [sum, numberOf(row, sum)])) as Sums;

/** Amounts have twelve decimals; counts are whole. */
export const addSums = (left: Sums, right: Sums): Sums =>
  Object.fromEntries(SUMS.map((sum) => [sum, roundUsd(left[sum] + right[sum])])) as Sums;

/** One group for each combination of values, from the rows of several parts of the period. */
export function sumUp(
  rows: readonly AnalyticsRow[],
  dimensions: readonly Dimension[],
): readonly UsageGroup[] {
  const groups = new Map<string, UsageGroup>();
  for (const row of rows) {
    const values = dimensions.map((dimension) => textOf(row, dimension));
    const key = JSON.stringify(values);
    const former = groups.get(key);
    groups.set(key, { values, sums: former === undefined ? sumsOf(row) : addSums(former.sums, sumsOf(row)) });
  }
  return [...groups.values()].sort(
    (left, right) =>
      right.sums.total_usage - left.sums.total_usage || right.sums.request_count - left.sums.request_count,
  );
}

/** Values of the first dimension, highest spend first. */
function leadersOf(groups: readonly UsageGroup[]): readonly string[] {
  const totals = new Map<string, number>();
  for (const { values, sums } of groups) {
    const [value] = values;
    // Refused calls alone cost nothing.
    if (typeof value === 'string' && sums.request_count > 0)
      totals.set(value, (totals.get(value) ?? 0) + sums.total_usage);
  }
  return [...totals]
    .sort(([, left], [, right]) => right - left)
    .slice(0, LEADERS)
    .map(([value]) => value);
}

const daysOf = (rows: readonly AnalyticsRow[]): ReadonlyMap<number, Sums> =>
  new Map(rows.map((row) => [timeOf(row), sumsOf(row)]));
