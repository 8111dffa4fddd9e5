// The charge of a call: what the caller pays, what providers bill, and the difference (docs/contract.md#spend).
import type { TokensByModality } from '../embeddings/modality.js';
import type { PicoUsd } from './money.js';

export interface Charge {
  /** The charged tokens: at most the bound of the inputs, whatever a provider reports. */
  readonly promptTokens: number;
  readonly totalTokens: number;
  /** Null unless the modality of every token is known. */
  readonly tokensByModality: TokensByModality | null;
  /** Whether parts that are not text were counted here, because the provider reported no usage. */
  readonly isEstimated: boolean;
  /** The caller's charge; null where no price is known: an unknown price never counts as 0. */
  readonly cost: PicoUsd | null;
  /**
   * The providers' bill, including failed calls, broken answers and amounts beyond the bound. For a call through own
   * keys: their bill to the owner of the keys for served parts, up to the bound; parts that the operator's keys served
   * are in `cost` only.
   */
  readonly upstreamCost: PicoUsd | null;
  readonly isByok: boolean;
  readonly unpaid: readonly UnpaidCost[];
}

export type UnpaidReason =
  /** More than the inputs can have. */
  | 'over_reported'
  /** For an unusable answer. */
  | 'broken_answer'
  /** For parts of a call that failed by no fault of its caller. */
  | 'failed_call'
  /** For work that a time-out or the end of this service cut before its answer came. */
  | 'ended_here';

/** The part of a provider's bill that no caller pays. */
export interface UnpaidCost {
  readonly provider: string;
  /** As the log names it. */
  readonly endpoint: string;
  readonly reason: UnpaidReason;
  /** Whether the provider billed the owner of an own provider key instead of the operator. */
  readonly isOwn: boolean;
  /** Null where no price is known. */
  readonly amount: PicoUsd | null;
  readonly reportedTokens: number;
}

/**
 * The unpaid amounts that count towards the limit of a key and day: the bills to the operator of calls that came to no good
 * end. More than a call can cost is the provider's doing.
 */
export function unpaidTowardLimit(costs: readonly UnpaidCost[]): PicoUsd {
  return costs.reduce(
    (sum, { isOwn, reason, amount }) => (isOwn || reason === 'over_reported' ? sum : sum + (amount ?? 0n)),
    0n,
  );
}
