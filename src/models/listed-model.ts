// The facts of a listed model, of any kind (docs/contract.md#models).
import { priceOn, rowOn } from '../catalogue/catalogue-model.js';
import { isRerankEndpoint } from '../catalogue/rerank-model.js';
import type { RerankEndpoint, RerankModel } from '../catalogue/rerank-model.js';
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import { chatPricesOn } from '../catalogue/chat-prices.js';
import type { EffectiveChatPrices } from '../catalogue/chat-prices.js';
import { isChatEndpoint } from '../domain/chat/chat-model.js';
import type { ChatEndpoint, ChatModel } from '../domain/chat/chat-model.js';
import type { AliasTarget } from '../routing/chat/moving-aliases.js';
import type { PicoUsd } from '../domain/spend/money.js';

export type ListedModel = (CatalogueModel | ChatModel | RerankModel) & {
  /** Of a moving alias, which is listed with the facts of its target. */
  readonly aliasTarget?: Pick<ChatModel, 'id' | 'name'>;
};
export type ListedEndpoint = ModelEndpoint | ChatEndpoint | RerankEndpoint;

export function isChatModel(model: ListedModel): model is ChatModel {
  return 'tokenizer' in model;
}

export function isRerankModel(model: ListedModel): model is RerankModel {
  return !isChatModel(model) && !('nativeDimensions' in model);
}

/** A target under the name of its moving alias. */
export function aliasOf({ alias, model }: AliasTarget): ListedModel {
  const { id, name, canonicalSlug = id } = model;
  const { aliases: _own, ...facts } = model;
  return { ...facts, id: alias.id, name: alias.name, canonicalSlug, aliasTarget: { id, name } };
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
  if (isRerankModel(model)) return ['rerank'];
  return isChatModel(model) ? ['text'] : ['embeddings'];
}

/**
 * An embedding model supports the parameters that every endpoint has: this service adds those that an upstream lacks.
 * A chat model supports those of any endpoint: routing chooses the endpoint by them.
 */
export function supportedParameters(model: ListedModel): string[] {
  if (isRerankModel(model)) return ['top_n'];
  if (!isChatModel(model))
    return model.otherDimensions === null ? ['encoding_format'] : ['dimensions', 'encoding_format'];
  const parameters = model.endpoints.flatMap((endpoint) => endpoint.supportedParameters);
  return [...new Set(parameters)].toSorted();
}

/** The price of one prompt token, 0 where search units are billed; null where it is unknown. */
export function promptPrice(endpoint: ListedEndpoint, day: string): PicoUsd | null {
  if (isRerankEndpoint(endpoint)) {
    const price = rowOn(endpoint.prices, day);
    return price?.unit === 'search_unit' ? 0n : (price?.amount ?? null);
  }
  return isChatEndpoint(endpoint)
    ? (listedChatPrices(endpoint, day)?.prompt ?? null)
    : priceOn(endpoint, day);
}

/** The price of one search unit; null: none is billed, or its price is unknown. */
export function searchUnitPrice(endpoint: ListedEndpoint, day: string): PicoUsd | null {
  const price = isRerankEndpoint(endpoint) ? rowOn(endpoint.prices, day) : null;
  return price?.unit === 'search_unit' ? price.amount : null;
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
