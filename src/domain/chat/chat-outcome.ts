// The outcome of a chat call as its record keeps it.
import type { PicoUsd } from '../spend/money.js';
import type { JsonObject, ChatToolCall } from './chat-request.js';
import type { AppliedPreset } from '../preset.js';
import type { ModelWire, ProviderWire } from './model-wire.js';
import type { UsageSource } from './chat-usage.js';

/** One answer of the model, assembled from its chunks. */
export interface ChatChoice {
  readonly index: number;
  readonly content: string | null;
  readonly reasoning: string | null;
  readonly refusal: string | null;
  readonly toolCalls: readonly ChatToolCall[];
  /** stop | length | tool_calls | content_filter | error, or the provider's word; null before the end. */
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
}

/** Tokens as a provider reported them, unchecked against each other; null: not reported. */
export interface ReportedTokens {
  readonly prompt: number | null;
  readonly completion: number | null;
  readonly reasoning: number | null;
  readonly cached: number | null;
  readonly cacheWrite: number | null;
}

/** The members of a generation that only chat calls have. */
export interface ChatFacts {
  /** Of the client. */
  readonly wire: ModelWire;
  /** Of the provider that answered; null: none did. */
  readonly providerWire: ProviderWire | null;
  /** As charged, like the prompt tokens of the generation. Details are parts of their totals. */
  readonly completionTokens: number;
  readonly reasoningTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  /** Those that live for an hour. */
  readonly cacheWrite1hTokens: number;
  readonly audioInputTokens: number;
  readonly audioOutputTokens: number;
  /** The origin of the numbers above. */
  readonly usageSource: UsageSource;
  /** Null when no provider reported any. */
  readonly reportedTokens: ReportedTokens | null;
  /** The reason of choice 0; `error` for a failure in the middle of an answer. */
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
  readonly isStreamed: boolean;
  /** The client left before the end. */
  readonly isCancelled: boolean;
  /** From the receipt of the request to the first content; null without a stream or without content. */
  readonly timeToFirstTokenMs: number | null;
  readonly serviceTier: string | null;
  /** The part of the cost above the reservation, which the caller does not pay; null: none. */
  readonly overrun: PicoUsd | null;
  /**
   * The two sides of the cost: prompt, images and the fee of a request, and completion; null where no price is known.
   */
  readonly promptCost: PicoUsd | null;
  readonly completionCost: PicoUsd | null;
  /** Parts of the prompt's cost and of the completion's cost. */
  readonly cachedCost: PicoUsd | null;
  readonly cacheWriteCost: PicoUsd | null;
  /** A part of the cost of writing. */
  readonly cacheWrite1hCost: PicoUsd | null;
  readonly reasoningCost: PicoUsd | null;
  readonly cacheDiscount: PicoUsd | null;
  /** Sampling and other settings of the request: chatParameters(). */
  readonly parameters: JsonObject | null;
  /** The moving alias that the request named; absent: it named the model itself. */
  readonly requestedModel?: string;
  /** The preset whose members were a part of the request; absent: none. */
  readonly preset?: AppliedPreset;
  readonly mediaCount: number;
  readonly audioCount: number;
}
