// Decides which threshold of a limit is reached, and in which window (docs/contract.md#notifications).
import type { PicoUsd } from '../spend/money.js';
import type { SpendLimitWindow } from '../spend/spend-limit.js';
import { spendTowardWindow, windowEnd, windowStart } from '../spend/spend.js';
import type { KeySpend } from '../spend/spend.js';
import type { NotificationCover, NotificationSelection } from './notification-rule.js';

/** A limit with its counter. */
export interface BudgetSubject extends SpendLimitWindow {
  readonly cover: NotificationCover;
  readonly accountId: string;
  /** Null: the subject is an account. */
  readonly workspaceId: string | null;
  /** The id of the key, workspace or account. */
  readonly id: string;
  /** The members of the payload that name the subject. */
  readonly names: Readonly<Record<string, string>>;
  /** The sums of the windows of `lastDay`. */
  readonly spend: KeySpend;
  /** The day of the newest amount. */
  readonly lastDay: Date;
}

/** A rule's threshold that a subject has reached. */
export interface BudgetCrossing {
  readonly rule: NotificationSelection;
  readonly subject: BudgetSubject;
  readonly threshold: number;
  readonly spent: PicoUsd;
  /** Null: the window is for ever. */
  readonly windowStart: Date | null;
  readonly windowEnd: Date | null;
  /** Whether the limit has refused a call. */
  readonly isRefused: boolean;
}

/** Whether `isRefused` limits have refused a call. */
export interface CrossingOptions {
  readonly now: Date;
  readonly isRefused: boolean;
}

/**
 * From this percentage on a refused call counts as 100 %: the limit stops calls, although the spend is below it. A call
 * that is refused earlier is larger than most of the limit, and says little about it.
 */
export const REFUSALS_COUNT_FROM = 80n;

// Milliseconds after the end of a window in which it is still reported: the newest calls of a window are read after it.
const GRACE = 600_000;

/** The crossing of each rule that watches the subject: its highest threshold that is reached, at most one a rule. */
export function findCrossings(
  subject: BudgetSubject,
  rules: readonly NotificationSelection[],
  { now, isRefused }: CrossingOptions,
): readonly BudgetCrossing[] {
  const current = spendOf(subject, now, isRefused);
  if (current === null) return [];
  const { day, spent } = current;
  return rules
    .filter((rule) => watches(rule, subject))
    .flatMap((rule) => {
      const reached = rule.thresholds.filter((threshold) => isReached(subject, threshold, spent, isRefused));
      if (reached.length === 0) return [];
      const threshold = Math.max(...reached);
      const start = windowStart(subject.window, day);
      return {
        rule,
        subject,
        threshold,
        spent,
        windowStart: start,
        windowEnd: windowEnd(subject.window, day),
        isRefused,
      };
    });
}

function watches(rule: NotificationSelection, subject: BudgetSubject): boolean {
  return (
    rule.accountId === subject.accountId &&
    rule.covers.includes(subject.cover) &&
    (rule.workspaceId === null || rule.workspaceId === subject.workspaceId)
  );
}

/** The spend of the subject's window, and a day of that window. Null: the window is over. */
function spendOf(
  subject: BudgetSubject,
  now: Date,
  isRefused: boolean,
): { readonly day: Date; readonly spent: PicoUsd } | null {
  const { spend, lastDay, window } = subject;
  const end = windowEnd(window, lastDay);
  if (end === null || end > now) return { day: lastDay, spent: spendTowardWindow(spend, subject) };
  // A call is refused in the current window, in which nothing is spent yet.
  if (isRefused) return { day: now, spent: 0n };
  // The window of the last amount, not of now: its newest calls may be read after its end.
  return now.getTime() - end.getTime() < GRACE
    ? { day: lastDay, spent: spendTowardWindow(spend, subject) }
    : null;
}

function isReached({ limit }: BudgetSubject, threshold: number, spent: PicoUsd, isRefused: boolean): boolean {
  // Nothing is a share of a limit of 0, and its refusals are free: they must store no events.
  if (limit === 0n) return false;
  if (isRefused && spent * 100n >= limit * REFUSALS_COUNT_FROM) return true;
  return spent * 100n >= limit * BigInt(threshold);
}
