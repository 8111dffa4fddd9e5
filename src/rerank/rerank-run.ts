// The life of one rerank call's money: plan, reserve, execute, settle, close. No vectors are cached and nothing is shared
// with other calls: a score belongs to a query and its documents.
import { pricedBy } from '../catalogue/catalogue-model.js';
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { GenerationPublisher } from '../deliveries/generation-publisher.js';
import { Clock } from '../domain/clock.js';
import { AppError, toAppError } from '../domain/errors.js';
import { describeGeneration } from '../domain/generations/call-record.js';
import type { CallContext } from '../domain/generations/call-record.js';
import { contentOfRerank } from '../domain/generations/generation-content.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { GuardedCaller } from '../domain/keys/api-key.js';
import type { Mutable } from '../domain/members.js';
import type { ProviderPreferences } from '../domain/providers/provider-preferences.js';
import { bestFirst } from '../domain/rerank/rerank.js';
import type { RankedDocument, RerankRequest } from '../domain/rerank/rerank.js';
import { unpaidTowardLimit } from '../domain/spend/charge.js';
import { utcDay } from '../domain/spend/spend.js';
import { GenerationLog } from '../persistence/generations/generation-log.js';
import { endpointName } from '../routing/endpoint-target.js';
import { describeRouting } from '../routing/routing-metadata.js';
import type { RoutingProgress } from '../routing/routing-metadata.js';
import { RerankPlanner } from '../routing/rerank/rerank-planner.js';
import type { RerankRoute } from '../routing/rerank/rerank-planner.js';
import { RerankRouter } from '../routing/rerank/rerank-router.js';
import type { RoutedRerank } from '../routing/rerank/rerank-router.js';
import { CallSpend } from '../spend/call-spend.js';
import { reserveRoute } from '../spend/route-reservation.js';
import { SpendLimiter } from '../spend/spend-limiter.js';
import { UnpaidCosts } from '../spend/unpaid-costs.js';
import { rerankBounds, rerankCharge } from './charges/rerank-charge.js';
import type { AnswerFacts } from '../http/observe/call-headers.js';
import type { RerankResult } from './dto/rerank-response.dto.js';

export interface RerankCallInput {
  readonly caller: GuardedCaller;
  readonly request: RerankRequest;
  readonly preferences: ProviderPreferences;
  readonly context: CallContext;
  readonly wantsRoutingMetadata: boolean;
}

/** The answer of a call whose generation is committed. */
export interface SettledRerank extends RerankResult, AnswerFacts {}

/** A call whose providers have answered. */
interface ExecutedRerank {
  readonly id: string;
  readonly createdAt: Date;
  /** performance.now() */
  readonly startedAt: number;
  readonly route: RerankRoute;
  readonly routed: RoutedRerank;
  /** The best first, at most as many as the caller wants. */
  readonly results: readonly RankedDocument[];
}

@Injectable()
export class RerankRuns {
  constructor(
    readonly planner: RerankPlanner,
    readonly spendLimiter: SpendLimiter,
    readonly router: RerankRouter,
    readonly unpaid: UnpaidCosts,
    readonly log: GenerationLog,
    readonly publisher: GenerationPublisher,
    readonly config: AppConfig,
    readonly clock: Clock,
  ) {}

  begin(call: RerankCallInput): RerankRun {
    return new RerankRun(call, this);
  }
}

/** Its steps run once each, in the order of the methods. close() follows on every path. */
export class RerankRun {
  private readonly spend: CallSpend;
  /** The UTC day whose prices hold for the whole call, however long it waits. */
  private readonly priceDay: string;
  /** Null until the call is certain to become a generation. */
  private generationId: string | null = null;
  private readonly progress: Mutable<RoutingProgress> = { route: null, routed: null, durationMs: null };

  constructor(
    private readonly call: RerankCallInput,
    private readonly services: RerankRuns,
  ) {
    this.spend = new CallSpend(services.spendLimiter, call.caller);
    this.priceDay = utcDay(services.clock.now());
  }

  async plan(): Promise<RerankRoute> {
    const { caller, request, preferences } = this.call;
    const limits = await this.services.spendLimiter.limitsOf(caller);
    const route = await this.services.planner.plan(caller, request, preferences, limits);
    this.progress.route = route;
    return route;
  }

  /** Returns the endpoints that the reservation covers. Throws when the limit is exhausted. */
  reserve(planned: RerankRoute): Promise<RerankRoute> {
    const { request } = this.call;
    return reserveRoute(this.spend, planned, (route) => rerankBounds(route, request, this.priceDay));
  }

  /** Calls the providers. Never throws: from here on the call is a generation, and a failure is part of its record. */
  async execute(route: RerankRoute): Promise<ExecutedRerank> {
    const { request } = this.call;
    const createdAt = this.services.clock.now();
    const id = uuidV7(createdAt);
    this.generationId = id;
    const startedAt = performance.now();
    const deadline = startedAt + this.services.config.operationDeadline;
    const routed = await this.services.router.run(route, request, deadline);
    const found = routed.error
      ? []
      : routed.served.flatMap(({ start, results }) =>
          results.map(({ index, score }) => ({ index: index + start, score })),
        );
    return { id, createdAt, startedAt, route, routed, results: bestFirst(found).slice(0, request.topN) };
  }

  /**
   * Records the generation and replaces the reservation by the cost, in one commit. Throws the failure of the call after its
   * record is committed.
   */
  async settle({ id, createdAt, startedAt, route, routed, results }: ExecutedRerank): Promise<SettledRerank> {
    const { caller, request, context, wantsRoutingMetadata } = this.call;
    const { key } = caller;
    const { log, publisher, unpaid } = this.services;
    const { error, attempts, served } = routed;
    const charge = rerankCharge(routed, request, this.priceDay, this.spend.bound);
    if (charge.unpaid.length > 0) unpaid.record(key.accountId, id, charge.unpaid);
    const durationMs = Math.round(performance.now() - startedAt);
    Object.assign(this.progress, { route, routed, durationMs });
    const [first] = served;
    const last = attempts.at(-1);
    const generation = describeGeneration(
      { id, createdAt, durationMs },
      {
        caller,
        context,
        error,
        charge,
        pricing: pricedBy(route.catalogueVersion, first?.target.endpoint, this.priceDay),
        operation: {
          operation: 'rerank',
          model: route.model.id,
          inputCount: request.documents.items.length,
          dimensions: null,
          encodingFormat: null,
          inputType: null,
          userId: request.user ?? null,
          rerank: {
            searchUnits: charge.searchUnits,
            topN: request.topN ?? null,
            usageSource: charge.usageSource,
          },
        },
        outcome: {
          endpoint: first ? endpointName(first.target) : (last?.endpoint ?? null),
          provider: first?.target.provider.slug ?? last?.provider ?? null,
          upstreamId: first?.upstreamId ?? null,
          attempts,
        },
      },
    );
    const content = () => contentOfRerank(request, results, error?.message ?? null);
    const stored = await publisher.toStore(generation, content);
    await log.append(
      stored.generation,
      this.spend.releases,
      stored.content,
      unpaidTowardLimit(charge.unpaid),
    );
    publisher.generationAppended(key.workspaceId);
    if (error || !first) throw error ?? new AppError('internal');
    return {
      generationId: id,
      model: route.model.id,
      provider: first.target.provider.name,
      results,
      charge,
      routingMetadata: wantsRoutingMetadata ? this.describeRouting() : null,
      passedOver: routed.passedOver,
      deprecation: route.model,
    };
  }

  /** Frees what the run holds. A lease whose part went to the log stays reduced, even if the commit is uncertain. */
  close(): void {
    this.spend.close();
  }

  /** A failure of this run, with its generation's id and, on request, its routing. */
  toCallerError(failure: unknown): unknown {
    const routingMetadata = this.call.wantsRoutingMetadata ? this.describeRouting() : null;
    if (this.generationId === null && !(failure instanceof AppError && routingMetadata)) return failure;
    return toAppError(failure).ofCall({ generationId: this.generationId, routingMetadata });
  }
  private describeRouting() {
    const { request, caller } = this.call;
    return describeRouting(request.model, this.progress, caller.hits?.found);
  }
}
