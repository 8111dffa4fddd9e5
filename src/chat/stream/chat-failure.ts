// The failure of an upstream's answer as data. Routing decides what follows from it, and money.
import type { ProviderError } from '../../providers/shared/provider.js';

export type ChatFailure =
  /** The provider says so, inside a success. */
  | { readonly kind: 'provider_error'; readonly error: ProviderError }
  /** Not of the form that the wire promises, larger than allowed, or cut off. */
  | { readonly kind: 'broken_answer'; readonly message: string }
  /** Nothing came for too long. */
  | { readonly kind: 'timeout'; readonly message: string }
  /** The connection failed. */
  | { readonly kind: 'connection'; readonly message: string };

export function brokenAnswer(message: string): ChatFailure {
  return { kind: 'broken_answer', message };
}

export function messageOf(failure: ChatFailure): string {
  return failure.kind === 'provider_error' ? failure.error.message : failure.message;
}
