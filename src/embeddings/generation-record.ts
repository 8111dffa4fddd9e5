// The record of one call: the one place where a generation is put together.
import type { Caller } from '../domain/keys/api-key.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { CallerTrace, Generation, RequestContext } from '../domain/generations/generation.js';
import type { Route } from '../routing/route-planner.js';
import type { Charge } from './charges/call-cost.js';
import type { VectorSource } from './cache/embedding-cache.js';
import type { RoutedCall } from '../routing/embedding-router.js';

/** What surrounds a call: for its record, never for its answer. */
export interface CallContext {
  readonly requestId: string;
  readonly sessionId: string | null;
  readonly trace: CallerTrace | null;
  readonly requestContext: RequestContext;
}

// This build serves no region in particular.
const REGION = 'global';

export interface FinishedCall {
  readonly caller: Caller;
  readonly request: EmbeddingRequest;
  readonly context: CallContext;
  readonly executed: {
    readonly route: Route;
    readonly routed: RoutedCall;
    readonly source: VectorSource | null;
  };
  readonly charge: Charge;
}

export function describeGeneration(
  moment: Pick<Generation, 'id' | 'createdAt' | 'durationMs'>,
  { caller: { key }, request, context, executed, charge }: FinishedCall,
): Generation {
  const { route, routed, source } = executed;
  const { error, attempts, served } = routed;
  const lastAttempt = attempts.at(-1);
  // Member by member: what spreads objects into a literal of this size is many times slower.
  return {
    id: moment.id,
    createdAt: moment.createdAt,
    durationMs: moment.durationMs,
    promptTokens: charge.promptTokens,
    totalTokens: charge.totalTokens,
    cost: charge.cost,
    upstreamCost: charge.upstreamCost,
    isByok: charge.isByok,
    accountId: key.accountId,
    workspaceId: key.workspaceId,
    apiKeyId: key.id,
    operation: 'embeddings',
    model: request.model,
    endpoint: source?.endpoint ?? lastAttempt?.endpoint ?? null,
    provider: source?.slug ?? lastAttempt?.provider ?? null,
    upstreamId: served[0]?.upstreamId ?? null,
    status: error?.status ?? 200,
    errorType: error?.errorType ?? null,
    inputCount: request.input.items.length,
    dimensions: error ? null : (request.dimensions ?? route.model.nativeDimensions),
    encodingFormat: request.encodingFormat,
    inputType: request.inputType ?? null,
    upstreamMs: attempts.reduce((longest, { durationMs }) => Math.max(longest, durationMs), 0),
    userId: request.user ?? null,
    sessionId: context.sessionId,
    requestId: context.requestId,
    region: REGION,
    trace: context.trace,
    requestContext: Object.keys(context.requestContext).length === 0 ? null : context.requestContext,
    attempts,
  };
}
