// Where the vectors of one call come from: what is kept, what other calls are fetching, and providers for the rest.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { AppConfig } from '../config/app-config.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import type { SpendBound, SpendRelease } from '../domain/spend/spend-limit.js';
import { utcDay } from '../domain/spend/spend.js';
import type { RoutedCall } from '../routing/embedding-router.js';
import type { Route } from '../routing/route-planner.js';
import { embeddingCacheKeys, isCacheable } from './cache/embedding-cache-key.js';
import { EmbeddingCacheMetrics } from './cache/embedding-cache-metrics.js';
import { EmbeddingCache } from './cache/embedding-cache.js';
import type { CacheClaim } from './cache/embedding-cache.js';
import { sourceOf, vectorsOf } from './sourced-vector.js';
import type { SourcedVector, VectorSource } from './sourced-vector.js';
import { VectorPurchases } from './vector-purchase.js';
import type { VectorPurchase } from './vector-purchase.js';

/** How much of an answer was cached; null: nobody has asked for that. */
export type CacheOutcome = 'hit' | 'partial' | 'miss' | 'bypass' | null;

export interface SuppliedVector extends SourcedVector {
  /** No provider was asked for this input: another call was, or one was for the same input further up. */
  readonly isCached: boolean;
}

export interface SuppliedCall {
  /** What providers were asked for, by this call. */
  readonly routed: RoutedCall;
  /** One for each input, in order; none when the call failed. */
  readonly vectors: readonly SuppliedVector[];
  /** Who has served; where no provider was asked, who once made the first vector. */
  readonly source: VectorSource | null;
  readonly cacheOutcome: CacheOutcome;
}

const NOTHING_ROUTED: RoutedCall = { served: [], wasted: [], attempts: [], error: null };

@Injectable()
export class VectorSupplies {
  constructor(
    private readonly cache: EmbeddingCache,
    private readonly metrics: EmbeddingCacheMetrics,
    private readonly purchases: VectorPurchases,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    private readonly yieldQueue: YieldQueue,
  ) {}

  /** Reserves what the call has to buy; throws where the money for that is not there. To be closed at the end. */
  async open(
    key: ApiKey,
    route: Route,
    request: EmbeddingRequest,
    wantsCache: boolean,
  ): Promise<VectorSupply> {
    const priceDay = utcDay(this.clock.now());
    const keys =
      wantsCache && isCacheable(request)
        ? await embeddingCacheKeys(key.workspaceId, route, request, this.yieldQueue.begin(key.accountId))
        : null;
    const claim = keys && this.cache.claim(keys, key);
    const { operationDeadline: timeLimit } = this.config;
    const call = { key, route, request, timeLimit, wantsCache, priceDay };
    const supply = new VectorSupply(call, claim, this.purchases, this.metrics);
    try {
      await supply.reserve(claim ? claim.missing : [...request.input.items.keys()]);
    } catch (error) {
      supply.close();
      throw error;
    }
    return supply;
  }
}

interface CallToSupply {
  readonly key: ApiKey;
  readonly route: Route;
  readonly request: EmbeddingRequest;
  /** Milliseconds, for all that it waits for once it has reserved: other calls and providers. */
  readonly timeLimit: number;
  readonly wantsCache: boolean;
  readonly priceDay: string;
}

export class VectorSupply {
  private readonly bought: VectorPurchase[] = [];

  constructor(
    private readonly call: CallToSupply,
    /** Null: everything is bought, and nothing shared. */
    private readonly claim: CacheClaim | null,
    private readonly purchases: VectorPurchases,
    private readonly metrics: EmbeddingCacheMetrics,
  ) {}

  /** The endpoints that were asked last, or would have been. */
  get route(): Route {
    return this.bought.at(-1)?.route ?? this.call.route;
  }

  /** The UTC day whose prices hold for the call, however long it waits for money or for other calls. */
  get priceDay(): string {
    return this.call.priceDay;
  }

  /** To be handed to the log together with the cost. */
  get releases(): SpendRelease[] {
    return this.bought.flatMap(({ reservation }) => reservation.releases);
  }

  /** What all that was bought may cost together; null where nothing limits it. */
  get bound(): SpendBound | null {
    const sum = { cost: 0n, costWithByok: 0n };
    for (const { reservation } of this.bought) {
      if (reservation.bound === null) return null;
      sum.cost += reservation.bound.cost;
      sum.costWithByok += reservation.bound.costWithByok;
    }
    return sum;
  }

  async reserve(indexes: readonly number[]): Promise<VectorPurchase | null> {
    if (indexes.length === 0) return null;
    const { key, route, request, priceDay } = this.call;
    const purchase = await this.purchases.reserve(key, route, request, indexes, priceDay);
    this.bought.push(purchase);
    return purchase;
  }

  /** Never throws: every call that comes here is a generation, whatever its end. */
  async gather(): Promise<SuppliedCall> {
    const deadline = performance.now() + this.call.timeLimit;
    const [reserved] = this.bought;
    let routed = reserved ? await this.run(reserved, deadline) : NOTHING_ROUTED;
    if (this.claim && !routed.error) routed = joined(routed, await this.runAbandoned(this.claim, deadline));
    const [first] = routed.served;
    const vectors = routed.error ? [] : this.vectorsOf(routed);
    if (this.claim) this.metrics.answered(vectors);
    return {
      routed,
      vectors,
      source: first ? sourceOf(first.target) : (vectors[0]?.source ?? null),
      cacheOutcome: this.outcomeOf(vectors),
    };
  }

  /** Once the call is recorded with its cost. */
  publish(): void {
    this.claim?.publish();
  }

  /** Also when it is not known whether it was recorded: what is held of a lease must not be handed out again. */
  close(): void {
    this.claim?.release();
    for (const { reservation } of this.bought) reservation.close();
  }

  private async run(purchase: VectorPurchase, deadline: number): Promise<RoutedCall> {
    const routed = await this.purchases.run(purchase, deadline);
    if (!routed.error) this.claim?.add(purchase.indexes, vectorsOf(routed.served));
    return routed;
  }

  /** Asks for what other calls were to bring and have not brought. */
  private async runAbandoned(claim: CacheClaim, deadline: number): Promise<RoutedCall> {
    try {
      const purchase = await this.reserve(await claim.takeFromOthers(deadline));
      return purchase ? await this.run(purchase, deadline) : NOTHING_ROUTED;
    } catch (failure) {
      const error = failure instanceof AppError ? failure : new AppError('internal', { cause: failure });
      return { ...NOTHING_ROUTED, error };
    }
  }

  private vectorsOf({ served }: RoutedCall): SuppliedVector[] {
    const { claim } = this;
    if (!claim) return vectorsOf(served).map(({ vector, source }) => ({ vector, source, isCached: false }));
    return claim
      .vectors()
      .map(({ vector, source }, index) => ({ vector, source, isCached: claim.isCached(index) }));
  }

  private outcomeOf(vectors: readonly SuppliedVector[]): CacheOutcome {
    if (!this.call.wantsCache) return null;
    if (!this.claim) return 'bypass';
    if (vectors.every(({ isCached }) => isCached)) return 'hit';
    return vectors.some(({ isCached }) => isCached) ? 'partial' : 'miss';
  }
}

function joined(one: RoutedCall, other: RoutedCall): RoutedCall {
  return {
    served: [...one.served, ...other.served],
    wasted: [...one.wasted, ...other.wasted],
    attempts: [...one.attempts, ...other.attempts],
    error: one.error ?? other.error,
  };
}
