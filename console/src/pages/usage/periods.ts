// Calendar months and own ranges of whole days, which the service counts in UTC.
import type { UsageSearch } from './usage-search';

export interface Period {
  /** Milliseconds; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** "2026-10", "2026-10-05_2026-10-11": for the name of a file. */
  readonly name: string;
}

export const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
const MONTHS_OFFERED = 13;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Undefined: it is no day of the calendar. */
function startOfDay(text: string): number | undefined {
  if (!DAY.test(text)) return undefined;
  const start = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(start) || new Date(start).toISOString().slice(0, text.length) !== text
    ? undefined
    : start;
}

const nameOfMonth = (start: number): string => new Date(start).toISOString().slice(0, 7);

function startOfMonth(now: number, offset: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1);
}

/** This month first, then those before it. */
export function recentMonths(now: number): readonly string[] {
  return Array.from({ length: MONTHS_OFFERED }, (_month, back) => nameOfMonth(startOfMonth(now, -back)));
}

/** The period, or why there is none. */
export function periodOf(
  { month, from, to }: Pick<UsageSearch, 'month' | 'from' | 'to'>,
  now: number,
): Period | string {
  if (from !== undefined || to !== undefined) return ownRange(from, to);
  const start =
    month === undefined
      ? startOfMonth(now, 0)
      : month === 'last'
        ? startOfMonth(now, -1)
        : Date.parse(`${month}-01T00:00:00Z`);
  return { start, end: startOfMonth(start, 1), name: nameOfMonth(start) };
}

function ownRange(from: string | undefined, to: string | undefined): Period | string {
  const start = startOfDay(from ?? '');
  const last = startOfDay(to ?? '');
  if (start === undefined || last === undefined) return 'Choose the first and the last day.';
  if (start > last) return 'The first day is after the last.';
  if (last - start >= MAX_DAYS * DAY_MS) return `Choose at most ${MAX_DAYS} days.`;
  return { start, end: last + DAY_MS, name: `${from}_${to}` };
}

/** The starts of the days that have begun. */
export function daysOf({ start, end }: Period, now: number): readonly number[] {
  const count = Math.max(1, Math.ceil((Math.min(end, now) - start) / DAY_MS));
  return Array.from({ length: count }, (_day, index) => start + index * DAY_MS);
}
