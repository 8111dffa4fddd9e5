// The maximum cost of a chat call at an endpoint, and the output limit that makes it real (docs/contract.md#chat-spend).
import { mostExpensiveChatPrices } from '../../catalogue/chat-prices.js';
import { searchesWeb } from '../../domain/chat/chat-model.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { imagesOf, promptBound } from './prompt-size.js';
import type { PromptSize } from './prompt-size.js';

/** The output limits that this service sends where the caller names none. Without an entry an endpoint receives none. */
export type InjectedLimits = ReadonlyMap<ChatEndpoint, number>;

export const NO_INJECTED_LIMITS: InjectedLimits = new Map();

type OutputSettings = Pick<
  ChatRequest,
  'maxOutputTokens' | 'choiceCount' | 'cacheWriteTtl' | 'serviceTier' | 'native'
>;

/** Of a call whose client states no bound. Anthropic pauses an answer after ten rounds. */
const DEFAULT_SEARCHES = 16;

export interface BoundedCall {
  readonly request: OutputSettings;
  readonly size: PromptSize;
  /** Bytes of the caller's prediction: rejected parts of it are charged as output. */
  readonly predictionBytes: number;
  readonly injectedLimits: InjectedLimits;
  readonly from: Date;
  /** The latest moment at which the call can end. */
  readonly until: Date;
}

/** The output limit that the endpoint receives; null: none. */
export function sentOutputLimit(
  { request, injectedLimits }: Pick<BoundedCall, 'request' | 'injectedLimits'>,
  endpoint: ChatEndpoint,
): number | null {
  const { maxOutputTokens: wanted } = request;
  if (wanted === null) return injectedLimits.get(endpoint) ?? null;
  return Math.min(wanted, endpoint.maxOutputTokens ?? wanted);
}

/** The most tokens that one endpoint can charge as output, over all choices. */
export function outputBound(call: BoundedCall, endpoint: ChatEndpoint): number {
  const limit = Math.min(sentOutputLimit(call, endpoint) ?? Infinity, mostOutput(endpoint));
  return (limit + call.predictionBytes) * call.request.choiceCount;
}

/** Null where the endpoint has no known price for the tier of the call. */
export function greatestChatCost(call: BoundedCall, endpoint: ChatEndpoint): PicoUsd | null {
  const prices = boundPrices(call, endpoint);
  return prices && prices.input + BigInt(outputBound(call, endpoint)) * prices.outputToken;
}

/** The largest output limit whose bound costs at most `rest`; 0: none does, or no price is known. */
export function affordableOutput(call: BoundedCall, endpoint: ChatEndpoint, rest: PicoUsd): number {
  const prices = boundPrices(call, endpoint);
  if (prices === null || prices.input > rest) return 0;
  const limit = BigInt(mostOutput(endpoint));
  if (prices.outputToken === 0n) return Number(limit);
  const tokens = (rest - prices.input) / prices.outputToken / BigInt(call.request.choiceCount);
  const affordable = tokens - BigInt(call.predictionBytes);
  if (affordable <= 0n) return 0;
  return Number(affordable < limit ? affordable : limit);
}

/** The highest prices that the call can reach. */
function boundPrices(
  { request, size, from, until }: BoundedCall,
  endpoint: ChatEndpoint,
): { readonly input: PicoUsd; readonly outputToken: PicoUsd } | null {
  const searches = mostSearches(request, endpoint);
  // The results of a search are read in a round of their own, with the whole prompt before them.
  const prompt = searches === 0 ? promptBound(size, endpoint) : (1 + searches) * endpoint.contextLength;
  const prices = mostExpensiveChatPrices(endpoint, {
    maxPromptTokens: prompt,
    from,
    until,
    serviceTier: request.serviceTier,
  });
  if (prices === null) return null;
  const written = request.cacheWriteTtl === '1h' ? prices.cacheWrite1h : prices.cacheWrite;
  const audio = size.audioParts > 0 ? [prices.audioInput, prices.audioInputCached] : [];
  const input = most([prices.prompt, prices.cacheRead, written, ...audio]);
  return {
    input:
      BigInt(prompt) * input +
      BigInt(imagesOf(size)) * prices.image +
      BigInt(searches) * prices.webSearch +
      prices.request,
    outputToken: most([prices.completion, prices.reasoning]),
  };
}

function mostSearches({ native }: OutputSettings, endpoint: ChatEndpoint): number {
  const search = native?.webSearch;
  if (search === undefined || !searchesWeb(endpoint)) return 0;
  return search.maxUses ?? DEFAULT_SEARCHES;
}

/** The most tokens of one choice: the prompt has at least one token of the context. */
export function mostOutput({ maxOutputTokens, contextLength }: ChatEndpoint): number {
  return Math.max(1, Math.min(maxOutputTokens ?? contextLength, contextLength - 1));
}

function most(prices: readonly PicoUsd[]): PicoUsd {
  return prices.reduce((highest, price) => (price > highest ? price : highest), 0n);
}
