// What a key has spent, and what is left of its limit, in the UTC windows of a moment.
// Source: contract 3.1 and 3.2; decisions 16 (windows roll over by computation at read time, never by a job).
import type { PicoUsd } from './money.js';

export const LIMIT_RESETS = ['daily', 'weekly', 'monthly'] as const;
export type LimitReset = (typeof LIMIT_RESETS)[number];

export interface WindowedSpend {
  readonly total: PicoUsd;
  readonly daily: PicoUsd;
  readonly weekly: PicoUsd;
  readonly monthly: PicoUsd;
}

export interface KeySpend {
  /** Through this service's own provider accounts. */
  readonly usage: WindowedSpend;
  /** Through the customer's own provider keys. */
  readonly byok: WindowedSpend;
}

const NOTHING: WindowedSpend = { total: 0n, daily: 0n, weekly: 0n, monthly: 0n };
/** A new key's. */
export const NO_SPEND: KeySpend = { usage: NOTHING, byok: NOTHING };

export interface SpendLimit {
  /** Null: no limit. */
  readonly limit: PicoUsd | null;
  /** Null: the limit is for the key's whole life. */
  readonly limitReset: LimitReset | null;
  readonly includeByokInLimit: boolean;
}

export interface AccountCredits {
  /** Null: the account is not metered by credits. */
  readonly bought: PicoUsd | null;
  readonly spent: PicoUsd;
}

const DAY = 86_400_000;
// Asked several times a call, and nearly always of the same day.
let latest = { number: NaN, text: '' };

/** The UTC day of a moment, as YYYY-MM-DD. */
export function utcDay(moment: Date): string {
  const number = Math.floor(moment.getTime() / DAY);
  if (number !== latest.number) latest = { number, text: moment.toISOString().slice(0, 10) };
  return latest.text;
}

/** The Monday (UTC) of the week that a moment falls in, as YYYY-MM-DD. */
export function utcWeek(moment: Date): string {
  const daysSinceMonday = (moment.getUTCDay() + 6) % 7;
  return utcDay(new Date(moment.getTime() - daysSinceMonday * DAY));
}

/** The UTC month of a moment, as YYYY-MM. */
export function utcMonth(moment: Date): string {
  return utcDay(moment).slice(0, 7);
}

/**
 * The sums as a reader sees them at `now`: a window's stored sum counts until the window of `lastDay`, the day of the
 * newest amount in it, has ended. Beyond that day nothing is spent, so a day ahead comes from a clock that is ahead, and
 * counts: the statement that grants leases (acquire_key_lease) decides alike.
 */
export function spendAt(stored: WindowedSpend, lastDay: Date, now: Date): WindowedSpend {
  return {
    total: stored.total,
    daily: utcDay(lastDay) >= utcDay(now) ? stored.daily : 0n,
    weekly: utcWeek(lastDay) >= utcWeek(now) ? stored.weekly : 0n,
    monthly: utcMonth(lastDay) >= utcMonth(now) ? stored.monthly : 0n,
  };
}

/** What counts toward the limit in the window that the limit is for. */
export function spendTowardLimit(spend: KeySpend, limit: SpendLimit): PicoUsd {
  const window = limit.limitReset ?? 'total';
  return spend.usage[window] + (limit.includeByokInLimit ? spend.byok[window] : 0n);
}

/** Null without a limit; never below zero. */
export function remainingOfLimit(spend: KeySpend, limit: SpendLimit): PicoUsd | null {
  if (limit.limit === null) return null;
  const remaining = limit.limit - spendTowardLimit(spend, limit);
  return remaining > 0n ? remaining : 0n;
}
