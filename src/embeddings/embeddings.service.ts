// What POST /embeddings promises: checked limits, right vectors, and one committed record of every call that reached
// routing, before its answer leaves.
import { Injectable } from '@nestjs/common';
import { priceOn } from '../catalogue/catalogue-model.js';
import type { Caller } from '../domain/api-key.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import type { CallerTrace, Generation, RequestContext } from '../domain/generation.js';
import { uuidV7 } from '../domain/identifiers.js';
import { utcDay } from '../domain/spend.js';
import { GenerationLog } from '../persistence/generation-log.js';
import { EmbeddingRouter } from '../routing/embedding-router.js';
import type { RoutedCall } from '../routing/embedding-router.js';
import { SpendGate } from '../spend/spend-gate.js';
import type { EmbeddingAnswer } from './dto/embedding-response.dto.js';

/** What surrounds a call: for its record, never for its answer. */
export interface CallContext {
  readonly requestId: string;
  readonly sessionId: string | null;
  readonly trace: CallerTrace | null;
  readonly requestContext: RequestContext;
}

// This build serves no region in particular.
const REGION = 'global';

@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly router: EmbeddingRouter,
    private readonly spendGate: SpendGate,
    private readonly log: GenerationLog,
    private readonly clock: Clock,
  ) {}

  /** `announceId` is told the generation's id as soon as there is one, so that failures carry it as well. */
  async create(
    caller: Caller,
    request: EmbeddingRequest,
    context: CallContext,
    announceId: (generationId: string) => void,
  ): Promise<EmbeddingAnswer> {
    const route = this.router.plan(request);
    await this.spendGate.check(caller.key);
    const createdAt = this.clock.now();
    const id = uuidV7(createdAt);
    announceId(id);
    const startedAt = performance.now();
    const routed = await this.router.run(route, request);
    const generation = describeGeneration(
      { id, createdAt, durationMs: Math.round(performance.now() - startedAt) },
      caller,
      request,
      context,
      routed,
    );
    await this.log.append(generation);
    if ('error' in routed.outcome) throw routed.outcome.error;
    return {
      generationId: id,
      model: request.model,
      provider: routed.target.provider.name,
      vectors: routed.outcome.answer.vectors,
      promptTokens: generation.promptTokens,
      totalTokens: generation.totalTokens,
      cost: generation.cost,
      isByok: generation.isByok,
    };
  }
}

function describeGeneration(
  moment: Pick<Generation, 'id' | 'createdAt' | 'durationMs'>,
  { key }: Caller,
  request: EmbeddingRequest,
  context: CallContext,
  { target, attempts, outcome }: RoutedCall,
): Generation {
  const { endpoint, provider } = target;
  const answer = 'answer' in outcome ? outcome.answer : null;
  const error = 'error' in outcome ? outcome.error : null;
  const promptTokens = answer?.promptTokens ?? answer?.totalTokens ?? 0;
  const price = priceOn(endpoint, utcDay(moment.createdAt));
  if (price === null) throw new AppError('unavailable', { detail: `${request.model} has no price` });
  const cost = BigInt(promptTokens) * price;
  return {
    ...moment,
    accountId: key.accountId,
    workspaceId: key.workspaceId,
    apiKeyId: key.id,
    operation: 'embeddings',
    model: request.model,
    endpoint: `${provider.slug}/${endpoint.upstreamModel}`,
    provider: provider.slug,
    upstreamId: answer?.upstreamId ?? null,
    status: error?.status ?? 200,
    errorType: error?.errorType ?? null,
    inputCount: request.input.items.length,
    promptTokens,
    totalTokens: answer?.totalTokens ?? promptTokens,
    cost,
    upstreamCost: cost,
    isByok: false,
    dimensions: answer ? (request.dimensions ?? target.model.nativeDimensions) : null,
    encodingFormat: request.encodingFormat,
    inputType: request.inputType ?? null,
    upstreamMs: attempts.reduce((sum, attempt) => sum + attempt.durationMs, 0),
    userId: request.user ?? null,
    sessionId: context.sessionId,
    requestId: context.requestId,
    region: REGION,
    trace: context.trace,
    requestContext: Object.keys(context.requestContext).length === 0 ? null : context.requestContext,
    attempts,
  };
}
