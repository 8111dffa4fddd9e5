// The parts of a time range by the source that answers them: sums of whole weeks, days and hours, and the log for the
// rest.
import type { AnalyticsQuery } from '../../domain/generations/analytics.js';
import { tablesOf } from './usage-statements.js';
import type { UsageLevel, UsageTable } from './usage-statements.js';
import type { TimeSpan } from '../history/history.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface RangePart extends TimeSpan {
  /**
   * The log: every row. Unsummed: rows of the log that the sums do not contain yet. Uncopied: those that the history does
   * not contain yet.
   */
  readonly source: UsageTable | 'log' | 'unsummed' | 'uncopied';
}

/** Milliseconds. */
interface Span {
  readonly source: UsageTable | 'log';
  readonly from: number;
  readonly to: number;
}

// Weeks begin on Monday, and 1970 began on Thursday.
const PERIODS = {
  hour: { length: HOUR, first: 0 },
  day: { length: DAY, first: 0 },
  week: { length: 7 * DAY, first: 4 * DAY },
} as const;

function floor(time: number, period: UsageTable['period']): number {
  const { length, first } = PERIODS[period];
  return Math.floor((time - first) / length) * length + first;
}

function ceil(time: number, period: UsageTable['period']): number {
  const { length, first } = PERIODS[period];
  return Math.ceil((time - first) / length) * length + first;
}

/**
 * Whole periods of the last table in the middle, and what is left by the tables before it. The log answers the rest,
 * and sums past their retention, as far as it goes back.
 */
function spansOf(tables: readonly UsageTable[], from: number, to: number, now: number): readonly Span[] {
  const source = tables.at(-1);
  if (source === undefined) return [{ source: 'log', from, to }];
  const finer = tables.slice(0, -1);
  const oldest = ceil(now - source.readableDays * DAY, source.period);
  const start = Math.min(Math.max(ceil(from, source.period), oldest), to);
  const end = Math.max(floor(to, source.period), start);
  return [
    ...spansOf(finer, from, start, now),
    { source, from: start, to: end },
    ...spansOf(finer, end, to, now),
  ];
}

function joined(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const span of spans.filter(({ from, to }) => from < to)) {
    const last = found.at(-1);
    if (last?.source === span.source && last.to === span.from)
      found[found.length - 1] = { ...last, to: span.to };
    else found.push(span);
  }
  return found;
}

/** Periods that lie within one of the granularity each. */
function isWithin(granularity: AnalyticsQuery['granularity'], { period }: UsageTable): boolean {
  if (granularity === null || granularity === 'week') return true;
  return granularity === 'hour' ? period === 'hour' : period !== 'week';
}

export function partsOf(
  { from, to, granularity }: Pick<AnalyticsQuery, 'from' | 'to' | 'granularity'>,
  { level, now }: { readonly level: UsageLevel; readonly now: Date },
): readonly RangePart[] {
  const tables = tablesOf(level).filter((table) => isWithin(granularity, table));
  const spans = joined(spansOf(tables, from.getTime(), to.getTime(), now.getTime()));
  const summed = joined(
    spans.flatMap(({ source, from: start, to: end }) =>
      source === 'log' ? [] : [{ source: 'log' as const, from: start, to: end }],
    ),
  );
  const partOf = (source: RangePart['source'], span: Span): RangePart => ({
    source,
    from: new Date(span.from),
    to: new Date(span.to),
  });
  return [
    ...spans.map((span) => partOf(span.source, span)),
    ...summed.map((span) => partOf('unsummed', span)),
  ];
}

/**
 * Divides the parts that the log would answer: the spans that the history answers, and the remaining parts. The log has
 * no rows before `begin`; null: it has all. `prefersHistory`: the history answers parts of more than a day as well.
 */
export function withHistory(
  parts: readonly RangePart[],
  { begin, prefersHistory }: { readonly begin: Date | null; readonly prefersHistory: boolean },
): { readonly parts: readonly RangePart[]; readonly spans: readonly TimeSpan[] } {
  const spans: TimeSpan[] = [];
  const rest: RangePart[] = [];
  for (const part of parts) {
    const { source, from, to } = part;
    const isLong = prefersHistory && to.getTime() - from.getTime() > DAY;
    const limit = isLong ? to : begin;
    if (source !== 'log' || limit === null || limit <= from) {
      rest.push(part);
      continue;
    }
    const end = limit < to ? limit : to;
    const span = { from, to: end };
    spans.push(span);
    rest.push({ source: 'uncopied', ...span });
    if (end < to) rest.push({ source: 'log', from: end, to });
  }
  return { parts: rest, spans };
}
