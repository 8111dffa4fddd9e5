// The internal form of a rerank call: documents in the order of their relevance to a query.
import type { EmbeddingInput } from '../embeddings/embedding.js';

/** A document with an image is a multimodal item. */
export type RerankDocuments = Exclude<EmbeddingInput, { readonly form: 'tokens' }>;

export interface RerankRequest {
  /** As the caller names it: an id, an alias or a bare name, with or without a variant. */
  readonly model: string;
  readonly query: string;
  readonly documents: RerankDocuments;
  /** Absent: the results of all documents. */
  readonly topN?: number | undefined;
  readonly user?: string | undefined;
  /** Unknown members, forwarded unchanged (docs/contract.md#conventions). */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface RankedDocument {
  /** Of the document in the request. */
  readonly index: number;
  /** The provider's own, unchanged: models have different scales. */
  readonly score: number;
}

/** The units in which rerankers bill: a query with up to 100 documents, or tokens. */
export const RERANK_UNITS = ['search_unit', 'token'] as const;
export type RerankUnit = (typeof RERANK_UNITS)[number];

/** Chunks of documents in one search unit. */
export const CHUNKS_PER_UNIT = 100;

/** The members of a generation that only reranking has. */
export interface RerankFacts {
  /** Null: the price is not one of search units, and the provider reported none. */
  readonly searchUnits: number | null;
  /** As the caller asked for; null: all. */
  readonly topN: number | null;
  /** Of what was charged; `none`: nothing was served. */
  readonly usageSource: 'reported' | 'counted' | 'none';
}

/** The best first, those of one score by their indexes. */
export function bestFirst(results: readonly RankedDocument[]): RankedDocument[] {
  return results.toSorted((one, other) => other.score - one.score || one.index - other.index);
}

/** The answer of a rerank call. */
export interface RerankContent {
  /** The best first; empty for a failure. */
  readonly results: readonly RankedDocument[];
}
