// The facts of a listed model, of either kind (docs/contract.md#models).
import { priceOn } from '../catalogue/catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import { chatPricesOn } from '../catalogue/chat-prices.js';
import type { EffectiveChatPrices } from '../catalogue/chat-prices.js';
import { isChatEndpoint } from '../domain/chat/chat-model.js';
import type { ChatEndpoint, ChatModel } from '../domain/chat/chat-model.js';
import type { PicoUsd } from '../domain/spend/money.js';

export type ListedModel = CatalogueModel | ChatModel;
export type ListedEndpoint = ModelEndpoint | ChatEndpoint;

export function isChatModel(model: ListedModel): model is ChatModel {
  return 'tokenizer' in model;
}

/** Unix seconds. */
export function createdAt(model: ListedModel): number {
  return Date.parse(`${model.createdAt}T00:00:00Z`) / 1000;
}

export function inputModalities({ endpoints }: { readonly endpoints: readonly ListedEndpoint[] }): string[] {
  const modalities = endpoints.flatMap((endpoint): readonly string[] =>
    isChatEndpoint(endpoint) ? endpoint.inputModalities : endpoint.modalities,
  );
  return [...new Set(modalities)];
}

export function outputModalities(model: ListedModel): string[] {
  return isChatModel(model) ? ['text'] : ['embeddings'];
}

/**
 * An embedding model supports the parameters that every endpoint has: this service adds those that an upstream lacks.
 * A chat model supports those of any endpoint: routing chooses the endpoint by them.
 */
export function supportedParameters(model: ListedModel): string[] {
  if (!isChatModel(model))
    return model.otherDimensions === null ? ['encoding_format'] : ['dimensions', 'encoding_format'];
  const parameters = model.endpoints.flatMap((endpoint) => endpoint.supportedParameters);
  return [...new Set(parameters)].toSorted();
}

/** The price of one prompt token; null where it is unknown. */
export function promptPrice(endpoint: ListedEndpoint, day: string): PicoUsd | null {
  return isChatEndpoint(endpoint)
    ? (listedChatPrices(endpoint, day)?.prompt ?? null)
    : priceOn(endpoint, day);
}

/** The prices of a short prompt outside of any hours with a price of their own. */
export function listedChatPrices(endpoint: ChatEndpoint, day: string): EffectiveChatPrices | null {
  const prices = endpoint.prices.map(({ tiers: _tiers, ...row }) => row);
  return chatPricesOn({ prices }, day, { promptTokens: 0, minuteOfDay: 0, serviceTier: null });
}

/** The cheapest endpoint with a known price; null without one. */
export function cheapestEndpoint(model: ListedModel, day: string): ListedEndpoint | null {
  let cheapest: { readonly endpoint: ListedEndpoint; readonly price: PicoUsd } | null = null;
  for (const endpoint of model.endpoints) {
    const price = promptPrice(endpoint, day);
    if (price !== null && (cheapest === null || price < cheapest.price)) cheapest = { endpoint, price };
  }
  return cheapest?.endpoint ?? null;
}

/** The price of the cheapest endpoint for one token; null when none is known. */
export function lowestPrice(model: ListedModel, day: string): PicoUsd | null {
  const endpoint = cheapestEndpoint(model, day);
  return endpoint && promptPrice(endpoint, day);
}
