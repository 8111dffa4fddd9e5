// What POST /embeddings promises: checked limits, right vectors, and one committed record of every call that reached
// routing, before its answer leaves.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { GenerationPublisher } from '../deliveries/generation-publisher.js';
import { UNHURRIED, YieldQueue } from '../concurrency/yield-queue.js';
import type { Caller } from '../domain/keys/api-key.js';
import { Clock } from '../domain/clock.js';
import type { EmbeddingRequest, EncodingFormat } from '../domain/embeddings/embedding.js';
import { AppError } from '../domain/errors.js';
import { uuidV7 } from '../domain/identifiers.js';
import type { Mutable } from '../domain/members.js';
import type { ProviderPreferences } from '../domain/embeddings/provider-preferences.js';
import { GenerationLog } from '../persistence/generations/generation-log.js';
import { StorageUsage } from '../persistence/generations/storage-usage.js';
import { RoutePlanner } from '../routing/route-planner.js';
import type { Route } from '../routing/route-planner.js';
import { describeRouting } from '../routing/routing-metadata.js';
import type { RoutingProgress } from '../routing/routing-metadata.js';
import { SpendLimiter } from '../spend/spend-limiter.js';
import { chargeFor } from './charges/call-cost.js';
import { writeEmbeddingResponse } from './dto/embedding-response.dto.js';
import type { EmbeddingAnswer } from './dto/embedding-response.dto.js';
import { describeGeneration } from './generation-record.js';
import type { CallContext } from './generation-record.js';
import { UnpaidCosts } from './charges/unpaid-costs.js';
import { VectorSupplies } from './vector-supply.js';
import type { CacheOutcome } from './vector-supply.js';

export interface AnswerOptions {
  /** Is told the generation's id as soon as there is one, so that failures carry it as well. */
  announceId(generationId: string): void;
  /** Is told how large the answer will be, before anybody is asked for it. Throws `overloaded` when that is too much. */
  expectBytes(bytes: number): void;
  readonly wantsRoutingMetadata: boolean;
  /** Vectors that its workspace has paid for already, or is about to, are good enough. */
  readonly wantsCache: boolean;
}

/** The answer of a call that is recorded. */
export interface WrittenAnswer {
  /** The body. */
  readonly pieces: readonly Buffer[];
  readonly cacheOutcome: CacheOutcome;
}

// Vectors. A larger answer is written when its account has its turn.
const LARGE_ANSWER = 512;

// A float32 in base64, and as decimals with a comma.
const BYTES_PER_NUMBER = { base64: 16 / 3, float: 14 } as const;

/** Filled in as the call goes on: a failure says how far it came. */
type Progress = Mutable<RoutingProgress>;

@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly planner: RoutePlanner,
    private readonly spendLimiter: SpendLimiter,
    private readonly supplies: VectorSupplies,
    private readonly unpaid: UnpaidCosts,
    private readonly log: GenerationLog,
    private readonly publisher: GenerationPublisher,
    private readonly storage: StorageUsage,
    private readonly clock: Clock,
    private readonly yieldQueue: YieldQueue,
  ) {}

  async create(
    caller: Caller,
    request: EmbeddingRequest,
    preferences: ProviderPreferences,
    context: CallContext,
    options: AnswerOptions,
  ): Promise<WrittenAnswer> {
    this.storage.rejectAboveLogQuota(caller.key.workspaceId);
    const progress: Progress = { route: null, routed: null, durationMs: null };
    try {
      const limits = await this.spendLimiter.limitsOf(caller.key);
      progress.route = await this.planner.plan(caller.key, request, preferences, limits);
      options.expectBytes(answerBytes(request, progress.route));
      return await this.serve(caller, request, progress.route, context, options, progress);
    } catch (error) {
      if (!options.wantsRoutingMetadata || !(error instanceof AppError)) throw error;
      throw error.withRoutingMetadata(describeRouting(request.model, progress));
    }
  }

  private async serve(
    caller: Caller,
    request: EmbeddingRequest,
    planned: Route,
    context: CallContext,
    options: AnswerOptions,
    progress: Progress,
  ): Promise<WrittenAnswer> {
    const supply = await this.supplies.open(caller.key, planned, request, options.wantsCache);
    try {
      const createdAt = this.clock.now();
      const id = uuidV7(createdAt);
      options.announceId(id);
      const startedAt = performance.now();
      const supplied = await supply.gather();
      const { routed, vectors, source, cacheOutcome } = supplied;
      const charge = await chargeFor(routed, request, supply.priceDay, supply.bound);
      if (charge.unpaid.length > 0) this.unpaid.record(caller.key.accountId, id, charge.unpaid);
      const durationMs = Math.round(performance.now() - startedAt);
      const { route } = supply;
      progress.route = route;
      progress.routed = routed;
      progress.durationMs = durationMs;
      const generation = describeGeneration(
        { id, createdAt, durationMs },
        { caller, request, context, route, supplied, charge },
      );
      const { workspaceId } = generation;
      const error = routed.error?.message ?? null;
      const content = await this.publisher.contentToStore(workspaceId, request.input, error);
      const answer: EmbeddingAnswer | null =
        routed.error || !source
          ? null
          : {
              generationId: id,
              model: request.model,
              provider: source.provider,
              vectors,
              routingMetadata: options.wantsRoutingMetadata ? describeRouting(request.model, progress) : null,
              charge,
            };
      const recorded = this.log.append(generation, supply.releases, content);
      const written = answer && this.writeMeanwhile(answer, request.encodingFormat, caller.key.accountId);
      // Whether that failed is looked at when the call is recorded.
      written?.catch(() => undefined);
      await recorded;
      this.publisher.generationAppended(workspaceId);
      if (!written) throw routed.error ?? new AppError('internal');
      supply.publish();
      return { pieces: await written, cacheOutcome };
    } finally {
      supply.close();
    }
  }

  /** Starts after the iteration of the event loop that hands the record over, because the record leaves at its end. */
  private async writeMeanwhile(
    answer: EmbeddingAnswer,
    format: EncodingFormat,
    accountId: string,
  ): Promise<Buffer[]> {
    if (answer.vectors.length <= LARGE_ANSWER) {
      await nextTurn();
      return writeEmbeddingResponse(answer, format, UNHURRIED);
    }
    await this.yieldQueue.enter(accountId);
    return writeEmbeddingResponse(answer, format, this.yieldQueue.begin(accountId));
  }
}

/** About what the vectors take up: as they come, and beside that as they leave. */
function answerBytes({ input, dimensions, encodingFormat }: EmbeddingRequest, { targets }: Route): number {
  const width = dimensions ?? targets[0]?.model.nativeDimensions ?? 0;
  return 2 * input.items.length * width * BYTES_PER_NUMBER[encodingFormat];
}
