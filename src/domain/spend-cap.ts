// Who can run out of money, and by which sums: what a call is held against before it is made.
import type { PicoUsd } from './money.js';
import type { WindowedSpend } from './spend.js';

export type SpendHolderKind = 'key' | 'workspace' | 'account';

/** Whose counter it is. */
export interface SpendHolder {
  readonly kind: SpendHolderKind;
  /** The id of the key, the workspace or the account. */
  readonly id: string;
  /** What the lease is kept with: the key's workspace, the workspace, or the account itself. */
  readonly workspaceId: string;
}

export interface SpendCap {
  readonly window: keyof WindowedSpend;
  readonly limit: PicoUsd;
  readonly includeByok: boolean;
}

/** A part of a lease that one call holds, and that its settling gives back. */
export interface SpendRelease {
  readonly holder: SpendHolder;
  readonly amount: PicoUsd;
}

/** What a call may cost at most. */
export interface SpendBound {
  readonly cost: PicoUsd;
  /** Through an own provider key. */
  readonly byokCost: PicoUsd;
}

/** How much of a bound counts toward a holder's caps. */
export function amountToward(caps: readonly SpendCap[], bound: SpendBound): PicoUsd {
  const byok = caps.some((cap) => cap.includeByok) ? bound.byokCost : 0n;
  return bound.cost > byok ? bound.cost : byok;
}
