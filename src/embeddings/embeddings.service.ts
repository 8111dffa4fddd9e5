// What POST /embeddings promises: checked limits, right vectors, and one committed record of every call that reached
// routing, before its answer leaves.
import { Injectable } from '@nestjs/common';
import type { ApiKey, Caller } from '../domain/api-key.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { ProviderPreferences } from '../domain/provider-preferences.js';
import { GenerationLog } from '../persistence/generation-log.js';
import { EmbeddingRouter } from '../routing/embedding-router.js';
import { RoutePlanner } from '../routing/route-planner.js';
import type { Route } from '../routing/route-planner.js';
import { describeRouting } from '../routing/routing-metadata.js';
import type { RoutingProgress } from '../routing/routing-metadata.js';
import { SpendGate } from '../spend/spend-gate.js';
import type { Reservation } from '../spend/spend-gate.js';
import { boundsOf, chargeFor } from './call-cost.js';
import type { EmbeddingAnswer } from './dto/embedding-response.dto.js';
import { describeGeneration } from './generation-record.js';
import type { CallContext } from './generation-record.js';

export interface AnswerWishes {
  /** Is told the generation's id as soon as there is one, so that failures carry it as well. */
  announceId(generationId: string): void;
  readonly wantsRoutingMetadata: boolean;
}

/** Filled in as the call goes on: a failure says how far it came. */
type Progress = { -readonly [Member in keyof RoutingProgress]: RoutingProgress[Member] };

@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly planner: RoutePlanner,
    private readonly router: EmbeddingRouter,
    private readonly spendGate: SpendGate,
    private readonly log: GenerationLog,
    private readonly clock: Clock,
  ) {}

  async create(
    caller: Caller,
    request: EmbeddingRequest,
    preferences: ProviderPreferences,
    context: CallContext,
    wishes: AnswerWishes,
  ): Promise<EmbeddingAnswer> {
    const progress: Progress = { route: null, routed: null, durationMs: null };
    try {
      progress.route = await this.planner.plan(caller.key, request, preferences);
      return await this.serve(caller, request, progress.route, context, wishes, progress);
    } catch (error) {
      if (!wishes.wantsRoutingMetadata || !(error instanceof AppError)) throw error;
      throw error.withRoutingMetadata(describeRouting(request.model, progress));
    }
  }

  private async serve(
    caller: Caller,
    request: EmbeddingRequest,
    planned: Route,
    context: CallContext,
    wishes: AnswerWishes,
    progress: Progress,
  ): Promise<EmbeddingAnswer> {
    const { route, reservation } = await this.reserve(caller.key, planned, request);
    const createdAt = this.clock.now();
    const id = uuidV7(createdAt);
    wishes.announceId(id);
    const startedAt = performance.now();
    const routed = await this.router.run(route, request);
    const charge = await chargeFor(routed, createdAt);
    const durationMs = Math.round(performance.now() - startedAt);
    Object.assign(progress, { route, routed, durationMs } satisfies Progress);
    const generation = describeGeneration(
      { id, createdAt, durationMs },
      { caller, request, context, route, routed, charge },
    );
    try {
      await this.log.append(generation, reservation.releases);
    } finally {
      // Also when it is not known whether it was committed: what is held of the lease must not be handed out again.
      reservation.settled();
    }
    const [first] = routed.served;
    if (routed.error ?? !first) throw routed.error ?? new AppError('internal');
    return {
      generationId: id,
      model: request.model,
      provider: first.target.provider.name,
      vectors: routed.served.flatMap(({ vectors }) => vectors),
      routingMetadata: wishes.wantsRoutingMetadata ? describeRouting(request.model, progress) : null,
      ...charge,
    };
  }

  /** Where the money for the shared endpoints is not there, own provider keys may still serve. */
  private async reserve(
    key: ApiKey,
    route: Route,
    request: EmbeddingRequest,
  ): Promise<{ readonly route: Route; readonly reservation: Reservation }> {
    const now = this.clock.now();
    try {
      return { route, reservation: await this.spendGate.reserve(key, boundsOf(route, request, now)) };
    } catch (error) {
      const targets = route.targets.filter(({ credential }) => credential !== null);
      const isOverLimit = error instanceof AppError && (error.status === 402 || error.status === 403);
      if (!isOverLimit || targets.length === 0 || targets.length === route.targets.length) throw error;
      const own = { ...route, targets };
      return { route: own, reservation: await this.spendGate.reserve(key, boundsOf(own, request, now)) };
    }
  }
}
