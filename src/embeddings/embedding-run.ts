// The life of one call's money: plan, reserve, execute, settle, close.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { AppConfig } from '../config/app-config.js';
import { GenerationPublisher } from '../deliveries/generation-publisher.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError, toAppError } from '../domain/errors.js';
import { contentOf } from '../domain/generations/generation-content.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { Mutable } from '../domain/members.js';
import { unpaidTowardLimit } from '../domain/spend/charge.js';
import type { Charge } from '../domain/spend/charge.js';
import { countedMoment, utcDay } from '../domain/spend/spend.js';
import { GenerationLog } from '../persistence/generations/generation-log.js';
import { EmbeddingRouter } from '../routing/embeddings/embedding-router.js';
import { joinRouted, NOTHING_ROUTED } from '../routing/routed-call.js';
import type { RoutedCall } from '../routing/routed-call.js';
import { RoutePlanner } from '../routing/embeddings/route-planner.js';
import type { Route } from '../routing/embeddings/route-planner.js';
import { describeRouting } from '../routing/routing-metadata.js';
import type { RoutingProgress } from '../routing/routing-metadata.js';
import { CallSpend } from '../spend/call-spend.js';
import { reserveRoute } from '../spend/route-reservation.js';
import { SpendLimiter } from '../spend/spend-limiter.js';
import { UnpaidCosts } from '../spend/unpaid-costs.js';
import { embeddingCacheKeys, isCacheable } from './cache/embedding-cache-key.js';
import {
  EmbeddingCacheMetrics,
  EmbeddingCache,
  sourcedVectorsOf,
  sourceOf,
} from './cache/embedding-cache.js';
import type { CacheClaim, VectorSource } from './cache/embedding-cache.js';
import { PartialResults } from './cache/partial-results.js';
import { boundsOf } from './charges/call-bound.js';
import { chargeFor } from './charges/call-cost.js';
import { answerBytes, paceOfAnswer, writeEmbeddingResponse } from './dto/embedding-response.dto.js';
import type { AnsweredVector } from './dto/embedding-response.dto.js';
import type { CacheOutcome, EmbeddingCall, WrittenAnswer } from './embedding-call.js';
import { joinFetches, withInputs } from './fetches.js';
import type { Fetch } from './fetches.js';
import { describeEmbedding } from './generation-record.js';

/** Inputs whose cost is reserved. */
interface ReservedInputs {
  /** The endpoints that the reservation covers. */
  readonly route: Route;
  /** By their indexes in the call, in order. */
  readonly indexes: readonly number[];
  /** With these inputs alone. */
  readonly request: EmbeddingRequest;
}

/** A call whose providers have answered. */
export interface ExecutedCall {
  readonly id: string;
  readonly createdAt: Date;
  /** performance.now() */
  readonly startedAt: number;
  /** performance.now() at `createdAt`, from which the duration of the record counts. */
  readonly countedFrom: number;
  /** The endpoints that were called last, or would have been. */
  readonly route: Route;
  /** The provider calls of this run alone. */
  readonly routed: RoutedCall;
  /** One for each input, in order; none when the call failed. */
  readonly vectors: readonly AnsweredVector[];
  /** The endpoint that served, or the one that made the first cached vector. */
  readonly source: VectorSource | null;
}

@Injectable()
export class EmbeddingRuns {
  constructor(
    readonly planner: RoutePlanner,
    readonly spendLimiter: SpendLimiter,
    readonly cache: EmbeddingCache,
    readonly cacheMetrics: EmbeddingCacheMetrics,
    readonly router: EmbeddingRouter,
    readonly partial: PartialResults,
    readonly unpaid: UnpaidCosts,
    readonly log: GenerationLog,
    readonly publisher: GenerationPublisher,
    readonly config: AppConfig,
    readonly clock: Clock,
    readonly yieldQueue: YieldQueue,
  ) {}

  begin(call: EmbeddingCall): EmbeddingRun {
    return new EmbeddingRun(call, this);
  }
}

/** Its steps run once each, in the order of the methods. close() follows on every path. */
export class EmbeddingRun {
  private readonly spend: CallSpend;
  private readonly reserved: ReservedInputs[] = [];
  /** The UTC day whose prices hold for the whole call, however long it waits. */
  private readonly priceDay: string;
  /** Null: no vector is shared with other calls. */
  private claim: CacheClaim | null = null;
  /** The served parts of a failed call are kept for a retry. */
  private readonly fetches: Fetch[] = [];
  /** Null until the call is certain to become a generation. */
  private generationId: string | null = null;
  /** The time of a second reservation, which may have waited past midnight; `from`: performance.now(). */
  private lastReserved: { readonly at: Date; readonly from: number } | null = null;
  private readonly progress: Mutable<RoutingProgress> = { route: null, routed: null, durationMs: null };

  constructor(
    private readonly call: EmbeddingCall,
    private readonly services: EmbeddingRuns,
  ) {
    this.spend = new CallSpend(services.spendLimiter, call.caller);
    this.priceDay = utcDay(services.clock.now());
  }

  /** Chooses the endpoints and acquires memory for the answer. Throws `overloaded` when the answer does not fit. */
  async plan(): Promise<Route> {
    const { caller, request, preferences, permit } = this.call;
    const limits = await this.services.spendLimiter.limitsOf(caller);
    const pace = this.services.yieldQueue.begin(caller.key.accountId);
    const route = await this.services.planner.plan(caller, request, preferences, limits, pace);
    this.progress.route = route;
    const width = request.dimensions ?? route.targets[0]?.model.nativeDimensions ?? 0;
    permit?.acquireBytes(answerBytes(request.input.items.length * width, request.encodingFormat));
    return route;
  }

  /** Reserves the cost of all inputs, or of those that the cache lacks. Throws when the limit is exhausted. */
  async reserve(route: Route): Promise<void> {
    const { caller, request, wantsCache } = this.call;
    const { workspaceId, accountId } = caller.key;
    if (wantsCache && isCacheable(request)) {
      const pace = this.services.yieldQueue.begin(accountId);
      const keys = await embeddingCacheKeys(workspaceId, route, request, pace);
      this.claim = this.services.cache.claim(keys, caller.key);
    }
    await this.reserveInputs(route, this.claim?.missing ?? [...request.input.items.keys()]);
  }

  /** Calls the providers. Never throws: from here on the call is a generation, and a failure is part of its record. */
  async execute(planned: Route): Promise<ExecutedCall> {
    const begunAt = this.services.clock.now();
    this.generationId = uuidV7(begunAt);
    const startedAt = performance.now();
    const deadline = startedAt + this.services.config.operationDeadline;
    const [reserved] = this.reserved;
    let routed = reserved ? await this.callProviders(reserved, deadline) : NOTHING_ROUTED;
    if (this.claim && !routed.error)
      routed = joinRouted(routed, await this.executeAbandoned(this.claim, planned, deadline));
    const vectors = routed.error ? [] : this.vectorsOf(routed);
    if (this.claim) this.services.cacheMetrics.answered(vectors);
    const route = this.reserved.at(-1)?.route ?? planned;
    const last = this.lastReserved;
    const createdAt = last === null ? begunAt : countedMoment(begunAt, last.at);
    const isMoved = last !== null && createdAt === last.at;
    const id = isMoved ? uuidV7(createdAt) : this.generationId;
    this.generationId = id;
    const countedFrom = isMoved ? last.from : startedAt;
    return { id, createdAt, startedAt, countedFrom, route, routed, vectors, source: this.sourceOf(routed) };
  }

  /**
   * Records the generation and replaces the reservations by the cost, in one commit. Throws the failure of the call after
   * its record is committed.
   */
  async settle(executed: ExecutedCall): Promise<WrittenAnswer> {
    const { caller, request, context } = this.call;
    const { accountId, workspaceId } = caller.key;
    const { log, publisher, unpaid } = this.services;
    const { id, createdAt, route, routed, source } = executed;
    const charge = await chargeFor(routed, request, this.priceDay, this.spend.bound);
    if (charge.unpaid.length > 0) unpaid.record(accountId, id, charge.unpaid);
    const now = performance.now();
    Object.assign(this.progress, { route, routed, durationMs: Math.round(now - executed.startedAt) });
    const moment = { id, createdAt, durationMs: Math.round(now - executed.countedFrom) };
    const generation = describeEmbedding(moment, {
      caller,
      request,
      context,
      executed,
      charge,
      priceDay: this.priceDay,
    });
    const content = () => contentOf(request.input, routed.error?.message ?? null);
    const stored = await publisher.toStore(generation, content);
    const unpaidCost = unpaidTowardLimit(charge.unpaid);
    await log.append(stored.generation, this.spend.releases, stored.content, unpaidCost);
    publisher.generationAppended(workspaceId);
    if (routed.error) await this.keepServed(route, routed);
    if (routed.error || !source) throw routed.error ?? new AppError('internal');
    // The vectors are paid for: other calls may have them.
    this.claim?.publish();
    return {
      generationId: id,
      pieces: await this.write(executed, source, charge),
      cacheOutcome: this.outcomeOf(executed.vectors),
      passedOver: routed.passedOver,
      deprecation: route.model,
    };
  }

  /** Frees what the run holds. A lease whose part went to the log stays reduced, even if the commit is uncertain. */
  close(): void {
    this.claim?.release();
    this.spend.close();
  }

  /** A failure of this run, with its generation's id and, on request, its routing. */
  toCallerError(failure: unknown): unknown {
    const routingMetadata = this.call.wantsRoutingMetadata ? this.describeRouting() : null;
    if (this.generationId === null && !(failure instanceof AppError && routingMetadata)) return failure;
    return toAppError(failure).ofCall({ generationId: this.generationId, routingMetadata });
  }

  private async reserveInputs(route: Route, indexes: readonly number[]): Promise<ReservedInputs | null> {
    if (indexes.length === 0) return null;
    const request = withInputs(this.call.request, indexes);
    const covered = await reserveRoute(this.spend, route, (of) => boundsOf(of, request, this.priceDay));
    const reserved = { route: covered, indexes, request };
    this.reserved.push(reserved);
    return reserved;
  }

  private async callProviders(reserved: ReservedInputs, deadline: number): Promise<RoutedCall> {
    const { route, indexes, request } = reserved;
    const { partial, router } = this.services;
    const routed = await partial.serve(this.call.caller.key, route, request, (rest) =>
      router.run(route, rest, deadline),
    );
    this.fetches.push({ indexes, served: routed.served });
    if (!routed.error) this.claim?.add(indexes, sourcedVectorsOf(routed.served));
    return routed.error ? { ...routed, error: atIndexOfCall(routed.error, indexes) } : routed;
  }

  /** A retry fetches the inputs of all fetches together. */
  private async keepServed(route: Route, routed: RoutedCall): Promise<void> {
    const { caller, request } = this.call;
    const { indexes, served } = joinFetches(this.fetches);
    await this.services.partial.keep(caller.key, route, withInputs(request, indexes), { ...routed, served });
  }

  /** Buys the inputs that other calls were fetching and failed to fetch, with a second reservation. */
  private async executeAbandoned(claim: CacheClaim, route: Route, deadline: number): Promise<RoutedCall> {
    try {
      const reserved = await this.reserveInputs(route, await claim.takeFromOthers(deadline));
      if (reserved) this.lastReserved = { at: this.services.clock.now(), from: performance.now() };
      return reserved ? await this.callProviders(reserved, deadline) : NOTHING_ROUTED;
    } catch (failure) {
      return { ...NOTHING_ROUTED, error: toAppError(failure) };
    }
  }

  private vectorsOf({ served }: RoutedCall): AnsweredVector[] {
    const { claim } = this;
    if (!claim)
      return served.flatMap(({ vectors }) => vectors.map((vector) => ({ vector, isCached: false })));
    return claim.vectors().map(({ vector }, index) => ({ vector, isCached: claim.isCached(index) }));
  }

  private sourceOf({ served, error }: RoutedCall): VectorSource | null {
    const [first] = served;
    if (first) return sourceOf(first.target);
    return error ? null : (this.claim?.sourceOf(0) ?? null);
  }

  private async write(
    { id, route, vectors }: ExecutedCall,
    { provider }: VectorSource,
    charge: Charge,
  ): Promise<Buffer[]> {
    const { caller, request, wantsRoutingMetadata } = this.call;
    const routingMetadata = wantsRoutingMetadata ? this.describeRouting() : null;
    const answer = { generationId: id, model: route.model.id, provider, vectors, routingMetadata, charge };
    const pace = await paceOfAnswer(vectors.length, this.services.yieldQueue, caller.key.accountId);
    return writeEmbeddingResponse(answer, request.encodingFormat, pace);
  }

  private outcomeOf(vectors: readonly AnsweredVector[]): CacheOutcome {
    if (!this.call.wantsCache) return null;
    if (!this.claim) return 'bypass';
    if (vectors.every(({ isCached }) => isCached)) return 'hit';
    return vectors.some(({ isCached }) => isCached) ? 'partial' : 'miss';
  }
  private describeRouting() {
    const { request, caller } = this.call;
    return describeRouting(request.model, this.progress, caller.hits?.found);
  }
}

/** Routing names an input by its index among those that it was given. */
function atIndexOfCall(error: AppError, indexes: readonly number[]): AppError {
  const index = error.inputIndex === null ? undefined : indexes[error.inputIndex];
  return index === undefined ? error : error.atInput(index);
}
