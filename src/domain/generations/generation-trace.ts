// The view of one generation for one destination. An allow-list builds it before any encoder runs, so that no encoder
// can send data that its destination must not receive (docs/contract.md#deliveries).
import type { ChatFacts } from '../chat/chat-outcome.js';
import type { EncodingFormat } from '../embeddings/embedding.js';
import type { ChatContent } from './chat-content.js';
import type { RerankContent, RerankFacts } from '../rerank/rerank.js';
import type { GenerationAttempt, Operation } from './generation.js';

/** The scalar facts that a destination's flags add, as `openrouter_generation.<name>`. */
export type GenerationFacts = Readonly<Record<string, string | number | boolean>>;

export interface TracedContent {
  /** One entry per input: its text, or its token ids. Parts that are not text are omitted. */
  readonly items: readonly (string | readonly number[])[];
  /** Whether inputs were cut or omitted because of their length. */
  readonly isTruncated: boolean;
}

export interface TracedError {
  /** Low cardinality: `provider_timeout`. */
  readonly type: string;
  /** Null in privacy mode: provider texts may repeat the input. */
  readonly message: string | null;
}

/** The content of a chat, whose messages can be cut. */
export interface TracedChatContent extends ChatContent {
  readonly isInputTruncated: boolean;
}

type ChatAmount =
  | 'overrun'
  | 'promptCost'
  | 'completionCost'
  | 'cachedCost'
  | 'cacheWriteCost'
  | 'reasoningCost'
  | 'cacheDiscount';
/** Both sides of the cost at the provider, which the owner of an own provider key pays. */
type UpstreamAmount = 'upstreamPromptCost' | 'upstreamCompletionCost';

/**
 * Amounts are USD, the parts of the cost those of the charge; null: unknown. In privacy mode words of the provider only if
 * they have the form of a word.
 */
export type TracedChat = Omit<
  ChatFacts,
  ChatAmount | 'parameters' | 'providerWire' | 'cacheWrite1hTokens' | 'cacheWrite1hCost'
> &
  Readonly<Record<ChatAmount | UpstreamAmount, number | null>> & {
    /** Without text of the caller in privacy mode. */
    readonly parameters: NonNullable<ChatFacts['parameters']>;
    /** Null in privacy mode, and when the content is no longer stored. */
    readonly content: TracedChatContent | null;
  };

/** A rerank call beside its input: the query, then the documents. */
export interface TracedRerank extends RerankFacts {
  /** Null in privacy mode, and when the content is no longer stored. */
  readonly content: RerankContent | null;
}

export interface GenerationTrace {
  readonly generationId: string;
  /** 32 hex digits. */
  readonly traceId: string;
  /**
   * 16 hex digits: a pure function of the generation and the destination, so that a repeated delivery has the same id.
   */
  readonly spanId: string;
  /** 16 hex digits. */
  readonly parentSpanId: string | null;
  /** The caller's own `trace_id` where it is not 32 hex digits; null in privacy mode. */
  readonly callerTraceId: string | null;
  /** Null unless the caller named the trace; null in privacy mode. */
  readonly traceName: string | null;
  /** The caller's name of the generation, span or trace; else and in privacy mode `<operation> <model>`. */
  readonly spanName: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly durationMs: number;
  readonly operation: Operation;
  readonly model: string;
  /** The provider's name of the model; null when no endpoint was reached. */
  readonly upstreamModel: string | null;
  /** The provider's slug; null when no endpoint was reached. */
  readonly provider: string | null;
  /** The provider's own id of the answer; in privacy mode only if it has the form of an id. */
  readonly upstreamId: string | null;
  /** The HTTP status that the caller received. */
  readonly status: number;
  /** Null for a success. */
  readonly error: TracedError | null;
  readonly inputCount: number;
  readonly promptTokens: number;
  readonly totalTokens: number;
  /** USD; null when no price is known. */
  readonly cost: number | null;
  readonly isByok: boolean;
  readonly dimensions: number | null;
  /** Null but for embeddings. */
  readonly encodingFormat: EncodingFormat | null;
  /** In privacy mode only if it is one of INPUT_TYPES: any other is the caller's own text. */
  readonly inputType: string | null;
  readonly workspaceId: string;
  readonly apiKeyName: string;
  readonly creatorUserId: string | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  /** The caller's own keys of `trace`; empty in privacy mode. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The facts of the destination's three flags; empty without them. */
  readonly facts: GenerationFacts;
  /** Null for chat, in privacy mode, and when the content is no longer stored. Never the vectors. */
  readonly input: TracedContent | null;
  /** In the order of their start, without texts. */
  readonly attempts: readonly GenerationAttempt[];
  /** Null for other operations. */
  readonly chat: TracedChat | null;
  /** Null for other operations. */
  readonly rerank: TracedRerank | null;
}
