// What an input costs at an endpoint, before and after the call. Tokens of one modality may cost more than those of another.
import type { EmbeddingInput, EmbeddingItem } from '../domain/embeddings/embedding.js';
import { addTokens, modalityCounts } from '../domain/embeddings/modality.js';
import type { Modality, TokensByModality } from '../domain/embeddings/modality.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { priceOn } from './catalogue-model.js';
import type { ModelEndpoint } from './catalogue-model.js';
import { exactTokenCounts, itemTokenBound, tokenBound, tokenBounds } from './token-count.js';

/**
 * The most that an input can cost on a day; null where a modality of it has no known price. Here and below, `added` is
 * the size in bytes of the text that is sent with each input and is not part of it.
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

/** The same of one item. */
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
  return dearestMixture(bounds, tokens, pricesOn(endpoint, day));
}

/** What each item will cost where tokens can be counted beforehand, else the most that it can. */
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
 * What a provider charges on a day for `tokens` tokens of an input; null where one of them has no known price.
 *
 * Those that the provider tells by modality cost what their modality costs. The others it tells as a sum: they cost as
 * much as the dearest mixture that this input can have made. That is never less than the provider's own bill, so that a
 * limit holds, and never more than greatestCost(), unless the provider counts beyond the bounds.
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

/** The most that the input's tokens can cost when all that is known of them is their sum. */
function costOfSum(
  input: EmbeddingInput,
  tokens: number,
  endpoint: ModelEndpoint,
  day: string,
  added: number,
): PicoUsd | null {
  if (input.form !== 'multimodal') return times(priceOn(endpoint, day), tokens);
  const bounds = input.items.map((item) => tokenBounds(item, endpoint, added)).reduce(addTokens, {});
  const mixture = dearestMixture(bounds, tokens, pricesOn(endpoint, day));
  const greatest = greatestCost(input, endpoint, day, added);
  // The mixture knows the bounds of all items together, and not that each of them has a limit.
  if (mixture === null || greatest === null || tokens > tokenBound(input, endpoint, added)) return mixture;
  return mixture < greatest ? mixture : greatest;
}

type PriceOf = (modality: Modality) => PicoUsd | null;

const pricesOn =
  (endpoint: ModelEndpoint, day: string): PriceOf =>
  (modality) =>
    priceOn(endpoint, day, modality);

/**
 * The most that so many tokens can cost when each modality has at most its bound of them: the dearest modality has all
 * that it can, then the next. Tokens beyond all bounds cost what the dearest costs.
 */
function dearestMixture(bounds: TokensByModality, tokens: number, priceOf: PriceOf): PicoUsd | null {
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
