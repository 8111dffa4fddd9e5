// One call of POST /embeddings: the data that the controller reads from its request and writes to its response.
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { ProviderPreferences } from '../domain/providers/provider-preferences.js';
import type { GuardedCaller } from '../domain/keys/api-key.js';
import type { AnswerFacts } from '../http/observe/call-headers.js';
import type { InFlightPermit } from '../http/load-shedding/in-flight-limit.js';
import type { CallContext } from '../domain/generations/call-record.js';

export interface EmbeddingCall {
  readonly caller: GuardedCaller;
  readonly request: EmbeddingRequest;
  readonly preferences: ProviderPreferences;
  readonly context: CallContext;
  /** Bounds the memory of the answer; null on a server without load shedding. */
  readonly permit: Pick<InFlightPermit, 'acquireBytes'> | null;
  readonly wantsRoutingMetadata: boolean;
  /** Accept vectors that the workspace has paid for, or that another of its calls is fetching. */
  readonly wantsCache: boolean;
}

/** The share of the vectors that came from the cache; null: the caller does not use the cache. */
export type CacheOutcome = 'hit' | 'partial' | 'miss' | 'bypass' | null;

/** The answer of a call whose generation is committed. */
export interface WrittenAnswer extends AnswerFacts {
  readonly generationId: string;
  /** The body. */
  readonly pieces: readonly Buffer[];
  readonly cacheOutcome: CacheOutcome;
}
