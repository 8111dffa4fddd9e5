// The cost of an input at an endpoint, before and after the call. Tokens of different modalities may have different
// prices.
import type { EmbeddingInput, EmbeddingItem } from '../domain/embeddings/embedding.js';
import { addTokens, modalityCounts } from '../domain/embeddings/modality.js';
import type { Modality, TokensByModality } from '../domain/embeddings/modality.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { priceOn } from './catalogue-model.js';
import type { ModelEndpoint } from './catalogue-model.js';
import { exactTokenCounts, itemTokenBound, tokenBound, tokenBounds } from './token-count.js';

/**
 * The maximum cost of an input on a day; null when one of its modalities has no known price. Here and below, `added` is
 * the size in bytes of text that is sent with each input without being part of it.
 */
export function greatestCost(
  input: EmbeddingInput,
  endpoint: ModelEndpoint,
  day: string,
  added = 0,
): PicoUsd | null {
  if (input.form !== 'multimodal') return times(priceOn(endpoint, day), tokenBound(input, endpoint, added));
  let sum = 0n;
  for (const item of input.items) {
    const cost = greatestItemCost(item, endpoint, day, added);
    if (cost === null) return null;
    sum += cost;
  }
  return sum;
}

/** The same for one item. */
export function greatestItemCost(
  item: EmbeddingItem,
  endpoint: ModelEndpoint,
  day: string,
  added = 0,
): PicoUsd | null {
  if (typeof item === 'string' || !('content' in item))
    return times(priceOn(endpoint, day), itemTokenBound(item, endpoint, added));
  const bounds = tokenBounds(item, endpoint, added);
  const tokens = Math.min(totalOf(bounds), endpoint.maxTokensPerInput);
  return mostExpensiveMixture(bounds, tokens, pricesOn(endpoint, day));
}

/** The cost of each item when tokens can be counted beforehand, else its maximum. */
export async function countedItemCosts(
  input: EmbeddingInput,
  endpoint: ModelEndpoint,
  day: string,
  added = 0,
): Promise<(PicoUsd | null)[]> {
  const counts = await exactTokenCounts(input, endpoint);
  if (!counts) return input.items.map((item) => greatestItemCost(item, endpoint, day, added));
  const price = priceOn(endpoint, day);
  return counts.map((tokens) => times(price, Math.min(tokens + added, endpoint.maxTokensPerInput)));
}

/**
 * A provider's charge on a day for `tokens` tokens of an input; null when one of them has no known price.
 *
 * Tokens that the provider reports by modality have the price of their modality. The rest is reported as a sum, and has
 * the price of the most expensive mixture that is possible for this input. The result is never below the provider's
 * bill, so that limits hold. It is never above greatestCost() unless the provider counts beyond the bounds.
 */
export function costOfTokens(
  input: EmbeddingInput,
  tokens: number,
  reported: TokensByModality,
  endpoint: ModelEndpoint,
  day: string,
  added = 0,
): PicoUsd | null {
  const unreported = Math.max(0, tokens - totalOf(reported));
  let sum = costOfSum(input, unreported, endpoint, day, added);
  for (const [modality, count] of modalityCounts(reported)) {
    const cost = count === 0 ? 0n : times(priceOn(endpoint, day, modality), count);
    sum = sum === null || cost === null ? null : sum + cost;
  }
  return sum;
}

/** The maximum cost of the input's tokens when only their sum is known. */
function costOfSum(
  input: EmbeddingInput,
  tokens: number,
  endpoint: ModelEndpoint,
  day: string,
  added: number,
): PicoUsd | null {
  if (input.form !== 'multimodal') return times(priceOn(endpoint, day), tokens);
  const bounds = input.items.map((item) => tokenBounds(item, endpoint, added)).reduce(addTokens, {});
  const mixture = mostExpensiveMixture(bounds, tokens, pricesOn(endpoint, day));
  const greatest = greatestCost(input, endpoint, day, added);
  // The mixture uses the bounds of all items together, and ignores the limit of each item.
  if (mixture === null || greatest === null || tokens > tokenBound(input, endpoint, added)) return mixture;
  return mixture < greatest ? mixture : greatest;
}

type PriceOf = (modality: Modality) => PicoUsd | null;

const pricesOn =
  (endpoint: ModelEndpoint, day: string): PriceOf =>
  (modality) =>
    priceOn(endpoint, day, modality);

/**
 * The maximum cost of `tokens` tokens within the bounds of the modalities: the most expensive modality is filled first,
 * then the next. Tokens beyond all bounds have the highest price.
 */
function mostExpensiveMixture(bounds: TokensByModality, tokens: number, priceOf: PriceOf): PicoUsd | null {
  const priced: { bound: number; price: PicoUsd }[] = [];
  for (const [modality, bound] of modalityCounts(bounds)) {
    const price = priceOf(modality);
    if (price === null) return null;
    priced.push({ bound, price });
  }
  priced.sort((one, other) => (one.price < other.price ? 1 : -1));
  let rest = tokens;
  let cost = 0n;
  for (const { bound, price } of priced) {
    const count = Math.min(bound, rest);
    cost += BigInt(count) * price;
    rest -= count;
  }
  return cost + BigInt(rest) * (priced[0]?.price ?? 0n);
}

function totalOf(tokens: TokensByModality): number {
  return modalityCounts(tokens).reduce((sum, [, count]) => sum + count, 0);
}

function times(price: PicoUsd | null, tokens: number): PicoUsd | null {
  return price === null ? null : price * BigInt(tokens);
}
