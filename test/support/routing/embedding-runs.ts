// EmbeddingRuns over fakes of the planner, the providers, the spend limiter and the generation log.
import { YieldQueue } from '../../../src/concurrency/yield-queue.js';
import type { AppConfig } from '../../../src/config/app-config.js';
import type { GenerationPublisher } from '../../../src/deliveries/generation-publisher.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../../src/domain/embeddings/embedding.js';
import { NO_PREFERENCES } from '../../../src/domain/providers/provider-preferences.js';
import { AppError } from '../../../src/domain/errors.js';
import type { Generation } from '../../../src/domain/generations/generation.js';
import type { UnpaidCost } from '../../../src/domain/spend/charge.js';
import { SpendLease } from '../../../src/domain/spend/spend-lease.js';
import { SpendRelease } from '../../../src/domain/spend/spend-limit.js';
import type { EmbeddingCacheMetrics } from '../../../src/embeddings/cache/embedding-cache.js';
import { EmbeddingCache } from '../../../src/embeddings/cache/embedding-cache.js';
import { Registry } from 'prom-client';
import type { Metrics } from '../../../src/config/metrics.js';
import type { EmbeddingCall, WrittenAnswer } from '../../../src/embeddings/embedding-call.js';
import { PartialResults } from '../../../src/embeddings/cache/partial-results.js';
import { EmbeddingRuns } from '../../../src/embeddings/embedding-run.js';
import { EmbeddingsService } from '../../../src/embeddings/embeddings.service.js';
import type { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import type { StorageUsage } from '../../../src/persistence/contents/storage-usage.js';
import type { EmbeddingRouter } from '../../../src/routing/embeddings/embedding-router.js';
import type { RoutedCall, ServedSlice } from '../../../src/routing/routed-call.js';
import type { Route, RoutePlanner } from '../../../src/routing/embeddings/route-planner.js';
import type { Reservation, SpendLimiter } from '../../../src/spend/spend-limiter.js';
import type { UnpaidCosts } from '../../../src/spend/unpaid-costs.js';
import { TestClock } from '../app/clock.js';
import { createEndpoint, createModel, createTarget } from './endpoints.js';
import { keyWithLimit } from './spend-limiter.js';

/** In 10^-12 USD. */
export const PRICE = 10n;
const PRICES = [{ effectiveFrom: '2026-01-01', perToken: PRICE, source: 'test' }];
const ENDPOINT = createEndpoint({ prices: PRICES, maxTokensPerInput: 100 });
const KEY = keyWithLimit(1_000_000n);

interface AppendedGeneration {
  readonly generation: Generation;
  readonly releases: readonly SpendRelease[];
}

export interface TestRuns {
  readonly service: EmbeddingsService;
  readonly runs: EmbeddingRuns;
  readonly appended: AppendedGeneration[];
  /** The inputs of every call to the router. */
  readonly routed: (readonly string[])[];
  readonly reservations: { readonly reservation: Reservation; isClosed: boolean }[];
  readonly unpaid: UnpaidCost[];
  readonly clock: TestClock;
  /** Workspaces whose destinations were notified. */
  readonly published: string[];
  create(members?: Partial<EmbeddingCall>, items?: readonly string[]): Promise<WrittenAnswer>;
}

/** The behaviour of the providers with the inputs of a call. */
export type RouterDeed = (items: readonly string[], route: Route) => Promise<RoutedCall>;

export interface RunsOptions {
  readonly route?: Route;
  /** The failure of a reservation; null: it succeeds. */
  readonly reserve?: (count: number) => Error | null;
  readonly append?: () => Promise<void>;
}

export const TARGET = createTarget(ENDPOINT);
export const ROUTE: Route = {
  accountId: KEY.accountId,
  model: createModel([ENDPOINT]),
  catalogueVersion: 0,
  targets: [TARGET],
};

/** Serves one token and one vector for each input; the vector shows its text's length. */
export function served(items: readonly string[], members: Partial<ServedSlice> = {}): RoutedCall {
  const slice: ServedSlice = {
    start: 0,
    input: { form: 'texts', items },
    target: TARGET,
    vectors: items.map(({ length }) => ({ form: 'floats', values: Float32Array.of(length, 0, 0, 1) })),
    promptTokens: items.length,
    totalTokens: items.length,
    upstreamId: 'upstream-1',
    ...members,
  };
  const attempt = { provider: 'openai', endpoint: 'openai/some-model', status: 200, errorType: null };
  return {
    served: [slice],
    wasted: [],
    attempts: [{ ...attempt, durationMs: 5 }],
    passedOver: [],
    error: null,
  };
}

export function failed(error: AppError, part: Partial<RoutedCall> = {}): RoutedCall {
  return { served: [], wasted: [], attempts: [], passedOver: [], ...part, error };
}

export function createRuns(deed: RouterDeed, options: RunsOptions = {}): TestRuns {
  const { route = ROUTE, reserve = () => null, append = () => Promise.resolve() } = options;
  const appended: AppendedGeneration[] = [];
  const routed: (readonly string[])[] = [];
  const reservations: TestRuns['reservations'] = [];
  const unpaid: UnpaidCost[] = [];
  const published: string[] = [];
  const lease = new SpendLease({ kind: 'key', id: KEY.id, workspaceId: KEY.workspaceId });
  const limiter: Pick<SpendLimiter, 'limitsOf' | 'reserve'> = {
    limitsOf: () => Promise.resolve({ isLimited: true, includesByok: false }),
    reserve: (_key, bounds) => {
      const failure = reserve(reservations.length);
      if (failure) return Promise.reject(failure);
      const bound = bounds.quick();
      const releases = [new SpendRelease(lease, bound.cost)];
      const entry = {
        reservation: { bound, releases, close: () => void (entry.isClosed = true) },
        isClosed: false,
      };
      reservations.push(entry);
      return Promise.resolve(entry.reservation);
    },
  };
  const config = { operationDeadline: 60_000, embeddingCache: { bytes: 2 ** 20, timeToLive: 60_000 } };
  const clock = new TestClock();
  const yieldQueue = new YieldQueue();
  const runs = new EmbeddingRuns(
    { plan: () => Promise.resolve(route) } as Partial<RoutePlanner> as RoutePlanner,
    limiter as SpendLimiter,
    new EmbeddingCache(config as AppConfig, clock),
    { answered: () => undefined } as Partial<EmbeddingCacheMetrics> as EmbeddingCacheMetrics,
    {
      run: (planned: Route, { input }: EmbeddingRequest) => {
        const items = input.items as readonly string[];
        routed.push(items);
        return deed(items, planned);
      },
    } as Partial<EmbeddingRouter> as EmbeddingRouter,
    new PartialResults({ registry: new Registry() } as Metrics, clock, yieldQueue),
    {
      record: (_accountId, _generationId, costs) => void unpaid.push(...costs),
    } as Partial<UnpaidCosts> as UnpaidCosts,
    {
      append: (generation: Generation, releases?: readonly SpendRelease[]) => {
        appended.push({ generation, releases: releases ?? [] });
        return append();
      },
    } as Partial<GenerationLog> as GenerationLog,
    {
      toStore: (generation) => Promise.resolve({ generation, content: null }),
      generationAppended: (workspaceId) => void published.push(workspaceId),
    } as Partial<GenerationPublisher> as GenerationPublisher,
    config as AppConfig,
    clock,
    yieldQueue,
  );
  const storage: Partial<StorageUsage> = { rejectAboveLogQuota: () => undefined };
  const service = new EmbeddingsService(storage as StorageUsage, runs);
  const create: TestRuns['create'] = (members = {}, items = ['a']) =>
    service.create({ ...createCall({ form: 'texts', items }), ...members });
  return { service, runs, appended, routed, reservations, unpaid, clock, published, create };
}

function createCall(input: EmbeddingInput): EmbeddingCall {
  return {
    caller: { key: KEY, guardrails: null },
    request: { model: ROUTE.model.id, input, encodingFormat: 'float', extra: {} },
    preferences: NO_PREFERENCES,
    context: { requestId: 'request-1', sessionId: null, trace: null, requestContext: {} },
    permit: null,
    wantsRoutingMetadata: false,
    wantsCache: false,
  };
}
