// The next start of a budget's window, in UTC.
import type { BudgetInterval } from '../../api/workspaces';

const SUNDAY_AS_LAST = 6;
const DAYS_OF_WEEK = 7;

/** Null: a lifetime budget has one window. */
export function nextStart(interval: BudgetInterval, now: number): string | null {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (interval) {
    case 'daily':
      return new Date(Date.UTC(year, month, day + 1)).toISOString();
    case 'weekly': {
      const sinceMonday = (date.getUTCDay() + SUNDAY_AS_LAST) % DAYS_OF_WEEK;
      return new Date(Date.UTC(year, month, day - sinceMonday + DAYS_OF_WEEK)).toISOString();
    }
    case 'monthly':
      return new Date(Date.UTC(year, month + 1, 1)).toISOString();
    case 'lifetime':
      return null;
  }
}
