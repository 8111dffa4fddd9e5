// The parts of a time range by the source that answers them: sums of whole days and hours, and the log for the rest.
import type { AnalyticsQuery } from '../../domain/generations/analytics.js';
import { USAGE_TABLES } from './usage-statements.js';
import type { UsageTable } from './usage-statements.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface RangePart {
  /** The log: every row. Unsummed: rows of the log that the sums do not contain yet. */
  readonly source: UsageTable | 'log' | 'unsummed';
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
}

/** Milliseconds. */
interface Span {
  readonly source: UsageTable | 'log';
  readonly from: number;
  readonly to: number;
}

const floor = (time: number, unit: number): number => Math.floor(time / unit) * unit;
const ceil = (time: number, unit: number): number => Math.ceil(time / unit) * unit;

/** Sums past their retention are read from the log, as far as that goes back. */
function spansOf(source: UsageTable, unit: number, from: number, to: number, now: number): Span[] {
  const oldest = ceil(now - source.readableDays * DAY, unit);
  const start = Math.min(Math.max(from, oldest), to);
  return [
    { source: 'log', from, to: start },
    { source, from: start, to },
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

/** `isByKey`: whether the query distinguishes keys. */
export function partsOf(
  { from, to, granularity }: Pick<AnalyticsQuery, 'from' | 'to' | 'granularity'>,
  { isByKey, now }: { readonly isByKey: boolean; readonly now: Date },
): readonly RangePart[] {
  const [hours, days] = isByKey
    ? [USAGE_TABLES.keyHour, USAGE_TABLES.keyDay]
    : [USAGE_TABLES.hour, USAGE_TABLES.day];
  const [begin, finish] = [from.getTime(), to.getTime()];
  const hourFrom = Math.min(ceil(begin, HOUR), finish);
  const hourTo = Math.max(floor(finish, HOUR), hourFrom);
  const dayFrom = granularity === 'hour' ? hourTo : Math.min(ceil(hourFrom, DAY), hourTo);
  const dayTo = Math.max(floor(hourTo, DAY), dayFrom);
  const spans = joined([
    { source: 'log', from: begin, to: hourFrom },
    ...spansOf(hours, HOUR, hourFrom, dayFrom, now.getTime()),
    ...spansOf(days, DAY, dayFrom, dayTo, now.getTime()),
    ...spansOf(hours, HOUR, dayTo, hourTo, now.getTime()),
    { source: 'log', from: hourTo, to: finish },
  ]);
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
