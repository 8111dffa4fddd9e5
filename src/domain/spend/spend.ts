// The spend of a key and the rest of its limit in the UTC windows of a time. Windows roll over by computation when they
// are read, never by a job (docs/contract.md#api-keys).
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
/** The spend of a new key. */
export const NO_SPEND: KeySpend = { usage: NOTHING, byok: NOTHING };

export interface SpendLimit {
  /** Null: no limit. */
  readonly limit: PicoUsd | null;
  /** Null: the limit applies to the key's whole life. */
  readonly limitReset: LimitReset | null;
  readonly includeByokInLimit: boolean;
}

export interface AccountCredits {
  /** Null: the account has no credit limit. */
  readonly bought: PicoUsd | null;
  readonly spent: PicoUsd;
}

const DAY = 86_400_000;
// Cached, because each call needs it several times, almost always for the same day.
let latest = { number: NaN, text: '' };

/** The UTC day of a time, as YYYY-MM-DD. */
export function utcDay(moment: Date): string {
  const number = Math.floor(moment.getTime() / DAY);
  if (number !== latest.number) latest = { number, text: moment.toISOString().slice(0, 10) };
  return latest.text;
}

/**
 * The moment of a generation that began at `start` and has reserved its money by `now`. It counts on the day of the
 * reservation: that day's limits have let it pass.
 */
export function countedMoment(start: Date, now: Date): Date {
  return utcDay(start) === utcDay(now) ? start : now;
}

/** The Monday (UTC) of the week of a time, as YYYY-MM-DD. */
export function utcWeek(moment: Date): string {
  const daysSinceMonday = (moment.getUTCDay() + 6) % 7;
  return utcDay(new Date(moment.getTime() - daysSinceMonday * DAY));
}

/** The UTC month of a time, as YYYY-MM. */
export function utcMonth(moment: Date): string {
  return utcDay(moment).slice(0, 7);
}

/**
 * The sums of the windows at `now`. A stored sum counts until the window of `lastDay`, the day of its newest amount,
 * has ended. A later `lastDay` comes from a clock that is ahead, and counts: acquire_key_lease, which grants leases,
 * decides the same way.
 */
export function spendAt(stored: WindowedSpend, lastDay: Date, now: Date): WindowedSpend {
  return {
    total: stored.total,
    daily: utcDay(lastDay) >= utcDay(now) ? stored.daily : 0n,
    weekly: utcWeek(lastDay) >= utcWeek(now) ? stored.weekly : 0n,
    monthly: utcMonth(lastDay) >= utcMonth(now) ? stored.monthly : 0n,
  };
}

/** The spend that counts towards the limit in the limit's window. */
export function spendTowardLimit(spend: KeySpend, limit: SpendLimit): PicoUsd {
  return spendTowardWindow(spend, {
    window: limit.limitReset ?? 'total',
    includeByok: limit.includeByokInLimit,
  });
}

/** The same for a limit of any window. */
export function spendTowardWindow(
  { usage, byok }: KeySpend,
  { window, includeByok }: { readonly window: keyof WindowedSpend; readonly includeByok: boolean },
): PicoUsd {
  return usage[window] + (includeByok ? byok[window] : 0n);
}

/** The moment at which the window of `now` began; null: the sum is for ever. */
export function windowStart(window: keyof WindowedSpend, now: Date): Date | null {
  switch (window) {
    case 'total':
      return null;
    case 'daily':
      return new Date(utcDay(now));
    case 'weekly':
      return new Date(utcWeek(now));
    case 'monthly':
      return new Date(`${utcMonth(now)}-01`);
  }
}

/** The moment at which the next window begins; null: the sum is for ever. */
export function windowEnd(window: keyof WindowedSpend, now: Date): Date | null {
  const year = now.getUTCFullYear();
  const month = now.getUTCMonth();
  switch (window) {
    case 'total':
      return null;
    case 'daily':
      return new Date(Date.UTC(year, month, now.getUTCDate() + 1));
    case 'weekly':
      return new Date(Date.parse(utcWeek(now)) + 7 * DAY);
    case 'monthly':
      return new Date(Date.UTC(year, month + 1));
  }
}

/** Null without a limit; never negative. */
export function remainingOfLimit(spend: KeySpend, limit: SpendLimit): PicoUsd | null {
  if (limit.limit === null) return null;
  const remaining = limit.limit - spendTowardLimit(spend, limit);
  return remaining > 0n ? remaining : 0n;
}
