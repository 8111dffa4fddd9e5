// One call of POST /chat/completions: the data that the controller reads from its request, and its client.
import type { CallerGone } from '../domain/ending.js';
import type { CallContext } from '../domain/generations/call-record.js';
import type { ChatRequest } from '../domain/chat/chat-request.js';
import type { ProviderPreferences } from '../domain/providers/provider-preferences.js';
import type { GuardedCaller } from '../domain/keys/api-key.js';
import type { AnswerFacts } from '../http/observe/call-headers.js';
import type { InFlightPermit } from '../http/load-shedding/in-flight-limit.js';
import type { ClientStream } from './stream/client-stream.js';

/** The caller's end of a call. */
export interface ChatClient {
  /** Null: it is there. */
  readonly gone: CallerGone | null;
  /** Calls `listener` once when the caller leaves before its response is complete. Returns the way to stop that. */
  onGone(listener: () => void): () => void;
  /** For a stream. Headers go out with its first byte, and state the facts that are known by then. */
  openStream(generationId: string, facts: () => AnswerFacts): ClientStream;
}

export interface ChatCall {
  readonly caller: GuardedCaller;
  readonly request: ChatRequest;
  readonly preferences: ProviderPreferences;
  readonly context: CallContext;
  readonly client: ChatClient;
  /** performance.now() */
  readonly receivedAt: number;
  readonly wantsRoutingMetadata: boolean;
  /** The permit of a call in flight; null without load shedding. */
  readonly permit: CallPermit | null;
}

/** Held until the call's record is committed. */
export type CallPermit = Pick<InFlightPermit, 'hold' | 'release' | 'setAnswerBytes' | 'acquireAnswerBytes'>;

/** The answer of a call without a stream, whose generation is committed. */
export interface WrittenChat extends AnswerFacts {
  readonly generationId: string;
  /** In pieces. */
  readonly body: readonly Buffer[];
}
