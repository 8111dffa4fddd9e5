// The catalogue's record of a rerank model and of the endpoints that serve it.
import type { RerankUnit } from '../domain/rerank/rerank.js';
import type { PicoUsd } from '../domain/spend/money.js';
import type { CatalogueModel, DatedPrice, ModelEndpoint } from './catalogue-model.js';

/** Of one search unit or of one token, never of both. */
export interface DatedRerankPrice extends Omit<DatedPrice, 'perToken'> {
  readonly unit: RerankUnit;
  readonly amount: PicoUsd;
}

export interface RerankEndpoint extends Pick<
  ModelEndpoint,
  'provider' | 'tag' | 'upstreamModel' | 'modalities' | 'allowedMembers' | 'quantization' | 'dataPolicy'
> {
  /** The score of a document does not depend on the others: a call may be split. */
  readonly isPointwise: boolean;
  readonly maxDocumentsPerCall: number;
  /** The tokens of a document, with the query, beyond which the provider cuts it; absent: it does not. */
  readonly maxTokensPerDocument?: number;
  /** Longer documents are billed as several chunks; absent: each document is one. */
  readonly chunkTokens?: number;
  /** The path of the operation on the server; absent: that of the provider's wire. */
  readonly rerankPath?: string;
  /** Empty: the price is unknown. */
  readonly prices: readonly DatedRerankPrice[];
}

export interface RerankModel extends Omit<
  CatalogueModel,
  'nativeDimensions' | 'otherDimensions' | 'endpoints'
> {
  /** All endpoints give scores of one scale: the same model. */
  readonly endpoints: readonly RerankEndpoint[];
}

export function isRerankEndpoint(endpoint: object): endpoint is RerankEndpoint {
  return 'isPointwise' in endpoint;
}
