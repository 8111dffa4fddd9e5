// An own provider key that the operator's credential replaced (docs/contract.md#provider-credentials).

export type PassedOverReason = 'used_up' | 'refused' | 'rate_limited' | 'unsupported' | 'unavailable';

export interface PassedOverKey {
  /** The provider's slug. */
  readonly provider: string;
  readonly reason: PassedOverReason;
}
