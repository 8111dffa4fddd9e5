// Who can run out of money, and by which sums: what a call is held against before it is made.
import type { PicoUsd } from './money.js';
import type { SpendLease } from './spend-lease.js';
import type { WindowedSpend } from './spend.js';

export interface SpendLimitWindow {
  readonly window: keyof WindowedSpend;
  readonly limit: PicoUsd;
  readonly includeByok: boolean;
}

/** A part of a lease that is to be given back, by the settling of the call that held it or by itself. */
export class SpendRelease {
  private isHandedOver = false;

  constructor(
    readonly lease: SpendLease,
    readonly amount: PicoUsd,
  ) {}

  /** From here on a statement may have given it back. */
  handOver(): void {
    this.isHandedOver = true;
  }

  get wasHandedOver(): boolean {
    return this.isHandedOver;
  }
}

/** What a call may cost at most. */
export interface SpendBound {
  readonly cost: PicoUsd;
  /** Together with what goes through own provider keys. */
  readonly costWithByok: PicoUsd;
}

/** Whether the calls of a key are held against money, its own or that of its workspace or account. */
export interface SpendLimits {
  readonly isLimited: boolean;
  /** Whether calls through own provider keys count as well. */
  readonly includesByok: boolean;
}

export const NO_LIMITS: SpendLimits = { isLimited: false, includesByok: false };

/** How much of a bound counts toward a holder's caps. */
export function amountToward(limits: readonly SpendLimitWindow[], bound: SpendBound): PicoUsd {
  return limits.some((limit) => limit.includeByok) ? bound.costWithByok : bound.cost;
}
