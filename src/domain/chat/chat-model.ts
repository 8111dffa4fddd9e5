// The catalogue's record of a chat model and of the endpoints that serve it (docs/contract.md#chat-models).
import type { Deprecation } from '../deprecation.js';
import type { DataPolicy } from '../providers/provider.js';
import type { PicoUsd } from '../spend/money.js';
import type { ProviderWire } from './model-wire.js';

/** Prices in 10^-12 USD: of one token, of one image, of one request, of one search. Absent members follow chatPricesOn's rules. */
export interface ChatPrices {
  readonly prompt: PicoUsd;
  readonly completion: PicoUsd;
  readonly cacheRead?: PicoUsd;
  readonly cacheWrite?: PicoUsd;
  readonly cacheWrite1h?: PicoUsd;
  readonly reasoning?: PicoUsd;
  readonly audioInput?: PicoUsd;
  readonly audioInputCached?: PicoUsd;
  readonly audioOutput?: PicoUsd;
  readonly image?: PicoUsd;
  readonly request?: PicoUsd;
  /** Of a search of the web that the provider runs itself. Absent: its endpoint gets no such tool. */
  readonly webSearch?: PicoUsd;
}

/** Prices that replace others for long prompts or at hours of the day. Of several that apply, the later wins per price. */
export interface PriceTier extends Partial<ChatPrices> {
  /** Applies strictly above. */
  readonly minPromptTokens?: number;
  /** Minutes of the UTC day; the end is exclusive. */
  readonly utcStart?: number;
  readonly utcEnd?: number;
}

export interface TieredChatPrices extends ChatPrices {
  readonly tiers?: readonly PriceTier[];
}

export interface DatedChatPrices extends TieredChatPrices {
  /** The first UTC day, YYYY-MM-DD. */
  readonly effectiveFrom: string;
  readonly source: string;
  /** By the name of the tier: flex, priority, scale. They replace the prices and tiers beside them. */
  readonly serviceTiers?: Readonly<Record<string, TieredChatPrices>>;
}

/** Whether the provider stops billing when its connection is closed. `stops`: streams only. */
export type CancellationBilling = 'stops' | 'stops_always' | 'runs_on' | 'unknown';

export type ChatModality = 'text' | 'image' | 'audio' | 'file' | 'video';

/** Absent members: as the provider's wire has them. */
export interface ChatWireSettings {
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens';
  /** Whether usage in streams must be requested, comes unasked, or never comes. */
  readonly streamUsage?: StreamUsage;
  readonly reasoningMember?: ReasoningMember;
  /** How a model of the Messages wire receives its effort; absent: it does not think. */
  readonly thinking?: ThinkingForm;
  /** Whether custom tools and namespaces of the Responses wire pass; otherwise they become functions. */
  readonly customTools?: boolean;
}

/** By an effort, or by a budget of tokens. */
export type ThinkingForm = 'adaptive' | 'budget';

/** A server's name for the reasoning in a message. */
export type ReasoningMember = 'reasoning' | 'reasoning_content';

export type StreamUsage = 'ask' | 'unasked' | 'none';

export interface ChatEndpoint {
  /** The slug of the provider's file. */
  readonly provider: string;
  readonly tag?: string;
  readonly upstreamModel: string;
  /** The wires that it speaks, the preferred one first; absent: its provider's first. */
  readonly wires?: readonly ProviderWire[];
  readonly contextLength: number;
  /** Absent: the context length. */
  readonly maxOutputTokens?: number;
  /** Names of the wire: tools, tool_choice, response_format, structured_outputs, logprobs, n, seed, ... */
  readonly supportedParameters: readonly string[];
  readonly inputModalities: readonly ChatModality[];
  /** Efforts that the endpoint takes, lowest first; empty: none. */
  readonly reasoningEfforts: readonly string[];
  readonly isReasoning: boolean;
  /** Reasoning tokens are billed and never streamed. */
  readonly hidesReasoning: boolean;
  /**
   * In Chat's wire calls with tools are sent with the effort `none`: the upstream refuses them with any other, and without one.
   * Where it has no such effort, it takes no tools in that wire.
   */
  readonly toolsOnlyWithoutReasoning?: boolean;
  /** Empty: the price is unknown. */
  readonly prices: readonly DatedChatPrices[];
  /** The prices are those of its provider's most expensive models: its own are unknown. */
  readonly hasCeiling?: true;
  /** Tokens that a chat template adds. Absent: 256, 16, 64. */
  readonly promptOverhead?: { readonly fixed: number; readonly perMessage: number; readonly perTool: number };
  /** Typical, for counts that are charged. Absent: 85 and 1,024. */
  readonly tokensPerImage?: { readonly low: number; readonly high: number };
  /** Upper bounds, for reservations; absent: a part is bounded by the context length. */
  readonly maxTokensPerImage?: { readonly low: number; readonly high: number };
  readonly maxTokensPerAudioSecond?: number;
  readonly maxTokensPerFile?: number;
  readonly maxTokensPerVideo?: number;
  /** Absent: the provider's. */
  readonly cancellation?: CancellationBilling;
  /** Prices that each row must state, of whatever layer: the price that stands in for an absent one is too low. */
  readonly needs?: readonly (keyof ChatPrices)[];
  /** Settings of servers that differ from their provider's wire. */
  readonly wire?: ChatWireSettings;
  /** Betas of the Messages wire that a cloud accepts. */
  readonly betas?: readonly string[];
  /** Members that are forwarded beside those of the wire, named as in the edits of an attempt: `x`, `messages.content.y`. */
  readonly allowedMembers?: readonly string[];
  readonly quantization: string | null;
  readonly dataPolicy: DataPolicy;
}

/** Whether it searches the web for a model, at a known price. */
export function searchesWeb({ prices }: Pick<ChatEndpoint, 'prices'>): boolean {
  return prices.length > 0 && prices.every(({ webSearch }) => webSearch !== undefined);
}

/** Distinguishes endpoints of chat models from those of embedding models. */
export function isChatEndpoint(endpoint: object): endpoint is ChatEndpoint {
  return 'supportedParameters' in endpoint;
}

export interface ChatModel extends Deprecation {
  readonly id: string;
  readonly canonicalSlug?: string;
  readonly aliases?: readonly string[];
  readonly name: string;
  readonly description: string;
  /** YYYY-MM-DD. */
  readonly createdAt: string;
  readonly contextLength: number;
  /** cl100k | o200k where it is exact; null: unknown. */
  readonly tokenizer: 'cl100k' | 'o200k' | null;
  readonly endpoints: readonly ChatEndpoint[];
  /** Whether the operator has taken it out of lists and calls. */
  readonly disabled?: boolean;
  /** The catalogue does not have it: its provider lists it. */
  readonly isUnlisted?: true;
}
