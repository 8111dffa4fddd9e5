// The ranges of the overview, and their periods.
import { timeOf } from '../../api/analytics';
import type { AnalyticsQuery, AnalyticsRow } from '../../api/analytics';
import { isoTime } from '../../api/iso-time';
import type { Range } from './overview-search';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface RangeDefinition {
  readonly label: string;
  readonly granularity: NonNullable<AnalyticsQuery['granularity']>;
  readonly period: number;
  readonly periods: number;
}

export const RANGE_DEFINITIONS: Readonly<Record<Range, RangeDefinition>> = {
  // The first minute of one hour is cut off: the API takes minutes only within the last hour.
  hour: { label: 'Last hour', granularity: 'minute', period: MINUTE_MS, periods: 60 },
  day: { label: '24 hours', granularity: 'hour', period: HOUR_MS, periods: 24 },
  week: { label: '7 days', granularity: 'hour', period: HOUR_MS, periods: 7 * 24 },
  month: { label: '30 days', granularity: 'day', period: DAY_MS, periods: 30 },
  quarter: { label: '90 days', granularity: 'day', period: DAY_MS, periods: 90 },
};

/** The periods up to the one that is not over yet. */
export function timesOf(range: Range, now: number): readonly number[] {
  const { period, periods } = RANGE_DEFINITIONS[range];
  const last = Math.floor(now / period) * period;
  return Array.from({ length: periods }, (_time, index) => last - (periods - 1 - index) * period);
}

/** To the end of the last period: the service answers whole hours and days from its sums. */
export function timeRangeOf(range: Range, now: number): { readonly start: string; readonly end: string } {
  const times = timesOf(range, now);
  const { period } = RANGE_DEFINITIONS[range];
  return { start: isoTime(times.at(0) ?? now), end: isoTime((times.at(-1) ?? now) + period) };
}

/** The values at these times. A period without a row, or whose row has none, has `absent`. */
export function valuesAt(
  times: readonly number[],
  rows: readonly AnalyticsRow[],
  valueOf: (row: AnalyticsRow) => number | null,
  absent: number | null,
): readonly (number | null)[] {
  const byTime = new Map(rows.map((row) => [timeOf(row), valueOf(row)]));
  return times.map((time) => byTime.get(time) ?? absent);
}

const FEWEST_PERIODS = 8;

/** Without the periods before the first call, if they are most of the range: an installation may be younger than it. */
export function sinceFirstRow(times: readonly number[], rows: readonly AnalyticsRow[]): readonly number[] {
  const first = Math.min(...rows.map(timeOf));
  const since = times.filter((time) => time >= first);
  return since.length === 0 || since.length > times.length / 2
    ? times
    : times.slice(-Math.max(since.length, FEWEST_PERIODS));
}

/** 00:00 UTC of today, and of the first of this month. */
export function windowStarts(now: number): { readonly daily: number; readonly monthly: number } {
  const date = new Date(now);
  return {
    daily: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()),
    monthly: Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1),
  };
}
