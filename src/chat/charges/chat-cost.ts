// The cost of a chat call by its usage: details of usage are parts of their totals, never additions.
import type { EffectiveChatPrices } from '../../catalogue/chat-prices.js';
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import type { PicoUsd } from '../../domain/spend/money.js';

export interface ChatCost {
  readonly total: PicoUsd;
  /** With images, the fee of a request, and searches of the web. */
  readonly prompt: PicoUsd;
  readonly completion: PicoUsd;
  /** Parts of the prompt's and of the completion's cost. */
  readonly cached: PicoUsd;
  readonly cacheWrite: PicoUsd;
  /** A part of the cost of writing. */
  readonly cacheWrite1h: PicoUsd;
  readonly reasoning: PicoUsd;
  /** Less than the same prompt without a cache; negative where writing costs more than reading has saved. */
  readonly cacheDiscount: PicoUsd | null;
}

export const NO_CHAT_COST: ChatCost = {
  total: 0n,
  prompt: 0n,
  completion: 0n,
  cached: 0n,
  cacheWrite: 0n,
  cacheWrite1h: 0n,
  reasoning: 0n,
  cacheDiscount: null,
};

export interface PricedUsage {
  readonly usage: ChatUsage;
  readonly images: number;
  readonly cacheWriteTtl: '5m' | '1h' | null;
}

/** The written tokens that live for an hour. */
export function longLivedTokens({
  usage,
  cacheWriteTtl,
}: Pick<PricedUsage, 'usage' | 'cacheWriteTtl'>): number {
  return usage.cacheWrite1hTokens ?? (cacheWriteTtl === '1h' ? usage.cacheWriteTokens : 0);
}

export function chatCost(
  prices: EffectiveChatPrices,
  { usage, images, cacheWriteTtl }: PricedUsage,
): ChatCost {
  const { cacheWriteTokens: written } = usage;
  const longLived = longLivedTokens({ usage, cacheWriteTtl });
  const { cachedAudioTokens } = usage;
  const cachedRest = usage.cachedTokens - cachedAudioTokens;
  const cached = times(cachedRest, prices.cacheRead) + times(cachedAudioTokens, prices.audioInputCached);
  const cacheWrite1h = times(longLived, prices.cacheWrite1h);
  const cacheWrite = times(written - longLived, prices.cacheWrite) + cacheWrite1h;
  const plainInput = usage.promptTokens - usage.cachedTokens - written - usage.audioInputTokens;
  const prompt =
    times(plainInput, prices.prompt) +
    cached +
    cacheWrite +
    times(usage.audioInputTokens, prices.audioInput) +
    times(images, prices.image) +
    times(usage.webSearches, prices.webSearch) +
    prices.request;
  const reasoning = times(usage.reasoningTokens, prices.reasoning);
  const plainOutput = usage.completionTokens - usage.reasoningTokens - usage.audioOutputTokens;
  const completion =
    times(plainOutput, prices.completion) + reasoning + times(usage.audioOutputTokens, prices.audioOutput);
  const hasCache = usage.cachedTokens + written > 0;
  const discount =
    times(cachedRest, prices.prompt - prices.cacheRead) +
    times(cachedAudioTokens, prices.audioInput - prices.audioInputCached) -
    (cacheWrite - times(written, prices.prompt));
  return {
    total: prompt + completion,
    prompt,
    completion,
    cached,
    cacheWrite,
    cacheWrite1h,
    reasoning,
    cacheDiscount: hasCache ? discount : null,
  };
}

/** Parts beyond their total were cut before; a negative rest must never become a credit. */
function times(count: number, price: PicoUsd): PicoUsd {
  return BigInt(Math.max(0, count)) * price;
}
