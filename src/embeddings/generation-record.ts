// The record of one embeddings call.
import { pricedBy } from '../catalogue/catalogue-model.js';
import { describeGeneration } from '../domain/generations/call-record.js';
import type { CallContext } from '../domain/generations/call-record.js';
import type { Generation } from '../domain/generations/generation.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { GuardedCaller } from '../domain/keys/api-key.js';
import type { Charge } from '../domain/spend/charge.js';
import type { RoutedCall } from '../routing/routed-call.js';
import type { Route } from '../routing/embeddings/route-planner.js';
import type { VectorSource } from './cache/embedding-cache.js';

interface FinishedEmbedding {
  readonly caller: GuardedCaller;
  readonly request: EmbeddingRequest;
  readonly context: CallContext;
  readonly executed: {
    readonly route: Route;
    readonly routed: RoutedCall;
    readonly source: VectorSource | null;
  };
  readonly charge: Charge;
  /** In UTC. */
  readonly priceDay: string;
}

export function describeEmbedding(
  moment: Pick<Generation, 'id' | 'createdAt' | 'durationMs'>,
  { caller, request, context, executed, charge, priceDay }: FinishedEmbedding,
): Generation {
  const { route, routed, source } = executed;
  const { error, attempts, served } = routed;
  const lastAttempt = attempts.at(-1);
  return describeGeneration(moment, {
    caller,
    context,
    error,
    charge,
    pricing: pricedBy(route.catalogueVersion, served[0]?.target.endpoint, priceDay),
    operation: {
      operation: 'embeddings',
      model: route.model.id,
      inputCount: request.input.items.length,
      dimensions: error ? null : (request.dimensions ?? route.model.nativeDimensions),
      encodingFormat: request.encodingFormat,
      inputType: request.inputType ?? null,
      userId: request.user ?? null,
    },
    outcome: {
      endpoint: source?.endpoint ?? lastAttempt?.endpoint ?? null,
      provider: source?.slug ?? lastAttempt?.provider ?? null,
      upstreamId: served[0]?.upstreamId ?? null,
      attempts,
    },
  });
}
