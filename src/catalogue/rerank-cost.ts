// The cost of reranking documents at an endpoint, before and after the call (docs/contract.md#rerank).
import type { EmbeddingItem } from '../domain/embeddings/embedding.js';
import { CHUNKS_PER_UNIT } from '../domain/rerank/rerank.js';
import type { RerankRequest } from '../domain/rerank/rerank.js';
import type { PicoUsd } from '../domain/spend/money.js';
import { rowOn } from './catalogue-model.js';
import type { RerankEndpoint, RerankModel } from './rerank-model.js';
import { itemTokenBound, usualTokens } from './token-count.js';

/** The quantities that an endpoint may bill. */
export interface RerankQuantity {
  readonly searchUnits: number;
  readonly tokens: number;
}

/** The place that serves a call. */
export interface RerankPlace {
  readonly model: Pick<RerankModel, 'contextLength'>;
  readonly endpoint: RerankEndpoint;
}

type Texts = Pick<RerankRequest, 'query' | 'documents'>;

// Tokens of the template around a query and a document.
const TEMPLATE_TOKENS = 128;
const WHOLE = { maxTokensPerInput: Infinity };

/** Documents in one call of the endpoint. */
export function documentsPerCall({ isPointwise, maxDocumentsPerCall }: RerankEndpoint): number {
  if (!isPointwise) return Infinity;
  // A part that ends within a search unit would pay for all of it.
  const wholeUnits = maxDocumentsPerCall - (maxDocumentsPerCall % CHUNKS_PER_UNIT);
  return wholeUnits === 0 ? maxDocumentsPerCall : wholeUnits;
}

/** The most that the endpoint can bill for one call of it; `added`: bytes of text that are sent with each document. */
export function greatestQuantity(texts: Texts, place: RerankPlace, added: number): RerankQuantity {
  const boundOf = (item: EmbeddingItem): number => itemTokenBound(item, WHOLE);
  return quantityOf(texts, place, boundOf, TEMPLATE_TOKENS + added);
}

/** The usual quantity, where the provider does not report its own. */
export function usualQuantity(texts: Texts, place: RerankPlace): RerankQuantity {
  return quantityOf(texts, place, usualTokens, 0);
}

/** Of the query and all documents together. */
export function usualTokensOfCall({ query, documents }: Texts): number {
  let tokens = usualTokens(query);
  for (const item of documents.items) tokens += usualTokens(item);
  return tokens;
}

function quantityOf(
  { query, documents }: Texts,
  { model, endpoint }: RerankPlace,
  tokensOf: (item: EmbeddingItem) => number,
  around: number,
): RerankQuantity {
  const { maxTokensPerDocument: cutAt = Infinity, chunkTokens = Infinity } = endpoint;
  const ofQuery = tokensOf(query);
  let chunks = 0;
  let tokens = 0;
  for (const item of documents.items) {
    const pair = Math.min(ofQuery + tokensOf(item), cutAt);
    tokens += Math.min(pair, model.contextLength) + around;
    chunks += chunkTokens === Infinity ? 1 : Math.ceil(Math.min(pair, UNKNOWN_LENGTH) / chunkTokens);
  }
  return { searchUnits: Math.max(1, Math.ceil(chunks / CHUNKS_PER_UNIT)), tokens };
}

// Tokens of a part that is not text, where nothing bounds it.
const UNKNOWN_LENGTH = 1_000_000;

/** Null: the price of the day is not known. */
export function costOfQuantity(
  { searchUnits, tokens }: RerankQuantity,
  endpoint: RerankEndpoint,
  day: string,
): PicoUsd | null {
  const price = rowOn(endpoint.prices, day);
  if (price === null) return null;
  return price.amount * BigInt(price.unit === 'search_unit' ? searchUnits : tokens);
}

/** The parts of a call, in the order of the documents; `start`: the index of the first document of a part. */
export function partsOf(
  documents: RerankRequest['documents'],
  endpoint: RerankEndpoint,
): { readonly start: number; readonly input: RerankRequest['documents'] }[] {
  const { items } = documents;
  const size = documentsPerCall(endpoint);
  if (items.length <= size) return [{ start: 0, input: documents }];
  const starts = Array.from({ length: Math.ceil(items.length / size) }, (_value, part) => part * size);
  return starts.map((start) => ({
    start,
    input: { ...documents, items: items.slice(start, start + size) } as RerankRequest['documents'],
  }));
}

/** The most that a call costs at an endpoint, which is called for each part of it. */
export function greatestCostOfCall(
  request: Texts,
  place: RerankPlace,
  day: string,
  added: number,
): PicoUsd | null {
  let sum = 0n;
  for (const { input: documents } of partsOf(request.documents, place.endpoint)) {
    const quantity = greatestQuantity({ query: request.query, documents }, place, added);
    const cost = costOfQuantity(quantity, place.endpoint, day);
    if (cost === null) return null;
    sum += cost;
  }
  return sum;
}
