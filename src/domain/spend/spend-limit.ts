// Spend limits: the owners and sums that a call is checked against before it is made.
import type { PicoUsd } from './money.js';
import type { SpendLease } from './spend-lease.js';
import type { WindowedSpend } from './spend.js';

export interface SpendLimitWindow {
  readonly window: keyof WindowedSpend;
  readonly limit: PicoUsd;
  readonly includeByok: boolean;
}

/** A part of a lease to release, by the settlement of its call or separately. */
export class SpendRelease {
  private isHandedOver = false;

  constructor(
    readonly lease: SpendLease,
    readonly amount: PicoUsd,
  ) {}

  /** From here on a statement may have released it. */
  handOver(): void {
    this.isHandedOver = true;
  }

  get wasHandedOver(): boolean {
    return this.isHandedOver;
  }
}

/** The maximum cost of a call. */
export interface SpendBound {
  readonly cost: PicoUsd;
  /** Including the cost through own provider keys. */
  readonly costWithByok: PicoUsd;
}

/** Whether calls of a key count towards a limit of the key, its workspace or its account. */
export interface SpendLimits {
  readonly isLimited: boolean;
  /** Whether calls through own provider keys count as well. */
  readonly includesByok: boolean;
}

export const NO_LIMITS: SpendLimits = { isLimited: false, includesByok: false };

/** The part of a bound that counts towards an owner's limits. */
export function amountToward(limits: readonly SpendLimitWindow[], bound: SpendBound): PicoUsd {
  return limits.some((limit) => limit.includeByok) ? bound.costWithByok : bound.cost;
}
