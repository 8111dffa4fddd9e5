// Collects the parts of providers' bills that the caller of one call does not pay.
import type { UnpaidCost, UnpaidReason } from '../domain/spend/charge.js';
import type { PicoUsd } from '../domain/spend/money.js';

const NOTHING_UNPAID: readonly UnpaidCost[] = [];

export class UnpaidCostList {
  private list: UnpaidCost[] | null = null;

  /** Nearly always empty. */
  get costs(): readonly UnpaidCost[] {
    return this.list ?? NOTHING_UNPAID;
  }

  /** `amount` null: no price is known. */
  add(
    bill: Pick<UnpaidCost, 'provider' | 'endpoint' | 'isOwn' | 'reportedTokens'>,
    reason: UnpaidReason,
    amount: PicoUsd | null,
  ): void {
    // Without a price, usage beyond a bound is still reported; every other bill of 0 is none.
    if (amount === 0n && reason !== 'over_reported') return;
    this.list ??= [];
    this.list.push({ ...bill, reason, amount });
  }
}
