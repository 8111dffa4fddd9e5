// The routing of a call, for callers who request it (docs/contract.md#embeddings-response).
import type { GuardrailHit } from '../guardrails/guardrail-hit.js';

export type PassedOverReason = 'used_up' | 'refused' | 'rate_limited' | 'unsupported' | 'unavailable';

/** An own provider key that the operator's credential replaced (docs/contract.md#provider-credentials). */
export interface PassedOverKey {
  /** The provider's slug. */
  readonly provider: string;
  readonly reason: PassedOverReason;
}

interface RoutedEndpoint {
  /** The provider's name. */
  readonly provider: string;
  /** The catalogue's id of the model. */
  readonly model: string;
}

export interface RoutingMetadata {
  /** The model that the caller asked for. */
  readonly requested: string;
  /** `fallback`: not everything was served by the endpoint that was tried first. */
  readonly strategy: 'direct' | 'fallback';
  readonly summary: string;
  /** Calls made to providers: slices and repeats are calls of their own; 0: none was reached. */
  readonly attempt: number;
  readonly isByok: boolean;
  readonly endpoints: readonly (RoutedEndpoint & { readonly selected: boolean })[];
  /** A status of 0: no answer came. */
  readonly attempts: readonly (RoutedEndpoint & { readonly status: number })[];
  readonly passedOver: readonly PassedOverKey[];
  /** Members of the request that the serving endpoint does not take. */
  readonly edits: readonly string[];
  /** Matches of content filters. */
  readonly hits: readonly GuardrailHit[];
  /** Milliseconds; null when nothing was routed. */
  readonly generationTime: number | null;
}
