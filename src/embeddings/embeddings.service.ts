// What POST /embeddings promises: checked limits, right vectors, and one committed record of every call that reached
// routing, before its answer leaves.
import { Injectable } from '@nestjs/common';
import type { Caller } from '../domain/api-key.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { ProviderPreferences } from '../domain/provider-preferences.js';
import { GenerationLog } from '../persistence/generation-log.js';
import { EmbeddingRouter } from '../routing/embedding-router.js';
import type { RoutedCall } from '../routing/embedding-router.js';
import { RoutePlanner } from '../routing/route-planner.js';
import type { Route } from '../routing/route-planner.js';
import { SpendGate } from '../spend/spend-gate.js';
import type { Reservation } from '../spend/spend-gate.js';
import { boundsOf, chargeFor } from './call-cost.js';
import type { EmbeddingAnswer } from './dto/embedding-response.dto.js';
import { describeGeneration } from './generation-record.js';
import type { CallContext } from './generation-record.js';

@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly planner: RoutePlanner,
    private readonly router: EmbeddingRouter,
    private readonly spendGate: SpendGate,
    private readonly log: GenerationLog,
    private readonly clock: Clock,
  ) {}

  /** `announceId` is told the generation's id as soon as there is one, so that failures carry it as well. */
  async create(
    caller: Caller,
    request: EmbeddingRequest,
    preferences: ProviderPreferences,
    context: CallContext,
    announceId: (generationId: string) => void,
  ): Promise<EmbeddingAnswer> {
    const route = this.planner.plan(request, preferences);
    const reservation = await this.spendGate.reserve(caller.key, boundsOf(route, request, this.clock.now()));
    const createdAt = this.clock.now();
    const id = uuidV7(createdAt);
    announceId(id);
    const startedAt = performance.now();
    const routed = await this.routeOrCancel(route, request, reservation);
    const charge = await chargeFor(routed, createdAt);
    const generation = describeGeneration(
      { id, createdAt, durationMs: Math.round(performance.now() - startedAt) },
      { caller, request, context, route, routed, charge },
    );
    await this.recordOrCancel(generation, reservation);
    const [first] = routed.served;
    if (routed.error ?? !first) throw routed.error ?? new AppError('internal');
    return {
      generationId: id,
      model: request.model,
      provider: first.target.provider.name,
      vectors: routed.served.flatMap(({ vectors }) => vectors),
      ...charge,
    };
  }

  private async routeOrCancel(
    route: Route,
    request: EmbeddingRequest,
    reservation: Reservation,
  ): Promise<RoutedCall> {
    try {
      return await this.router.run(route, request);
    } catch (error) {
      reservation.cancel();
      throw error;
    }
  }

  private async recordOrCancel(
    generation: Parameters<GenerationLog['append']>[0],
    reservation: Reservation,
  ): Promise<void> {
    try {
      await this.log.append(generation, reservation.releases);
      reservation.settled();
    } catch (error) {
      // Whether it was committed is not known; what is held of the lease must not be handed out again.
      reservation.settled();
      throw error;
    }
  }
}
