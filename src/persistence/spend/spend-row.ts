// Rows of counters: the spend of a key or a workspace.
import { parseUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { NO_SPEND, spendAt } from '../../domain/spend/spend.js';
import type { KeySpend } from '../../domain/spend/spend.js';
import type { Prisma } from '../generated/client.js';
import type { KeySpendModel } from '../generated/models.js';

/** Plain statements return amounts as texts, Prisma as its own decimals. */
export type Amount = Prisma.Decimal | string;

export type SpendAmount = Exclude<
  keyof KeySpendModel,
  'workspaceId' | 'apiKeyId' | 'lastDay' | 'reserved' | 'unpaidDay' | 'unpaid' | 'guardrailCounters'
>;

export type KeySpendRow = Pick<KeySpendModel, 'lastDay'> & Readonly<Record<SpendAmount, Amount>>;

/** Texts, since numbers of JSON are floating-point. */
export type SpendJson = Readonly<Record<SpendAmount | 'lastDay', string>>;

/** The spend of a key or a workspace as a reader sees it at `now`; null: nothing was spent. */
export function toKeySpend(row: KeySpendRow | null, now: Date): KeySpend {
  if (row === null) return NO_SPEND;
  const windows = (total: Amount, daily: Amount, weekly: Amount, monthly: Amount) =>
    spendAt(
      { total: toUsd(total), daily: toUsd(daily), weekly: toUsd(weekly), monthly: toUsd(monthly) },
      row.lastDay,
      now,
    );
  return {
    usage: windows(row.total, row.daily, row.weekly, row.monthly),
    byok: windows(row.byokTotal, row.byokDaily, row.byokWeekly, row.byokMonthly),
  };
}

export function readSpend(spend: SpendJson | null, now: Date): KeySpend {
  return toKeySpend(spend && { ...spend, lastDay: new Date(spend.lastDay) }, now);
}

export function toUsd(amount: Amount): PicoUsd {
  return parseUsd(typeof amount === 'string' ? amount : amount.toFixed());
}
