// Serves a call: plans the route, splits the call by the caps of endpoints, and falls back within one vector space.
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { AppConfig } from '../config/app-config.js';
import { Tracing } from '../config/tracing.js';
import { jitteredDelay } from '../concurrency/backoff.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError, toAppError } from '../domain/errors.js';
import type { GenerationAttempt } from '../domain/generations/generation.js';
import type { TokensByModality } from '../domain/embeddings/modality.js';
import type { Vector } from '../vectors/vectors.js';
import { Cancellation, toAbortSignal } from '../concurrency/cancellation.js';
import { CallCredentials } from './credentials/call-credentials.js';
import { splitCallYielding } from './call-splitter.js';
import type { Slice } from './call-splitter.js';
import { CredentialCircuits } from './credentials/credential-circuits.js';
import { EndpointCaller } from './endpoints/endpoint-caller.js';
import type { EndpointHealth } from './endpoints/endpoint-health.js';
import type { PermitOwner } from './endpoints/endpoint-permits.js';
import { EndpointFailure } from './endpoints/endpoint-failure.js';
import { endpointName } from './endpoints/endpoint-target.js';
import type { EndpointTarget } from './endpoints/endpoint-target.js';
import { EndpointHealthRegistry } from './endpoints/endpoint-health-registry.js';
import { mapBounded } from '../concurrency/map-bounded.js';
import type { Permit } from '../concurrency/semaphore.js';
import type { Route } from './route-planner.js';
import { describeAttempt, RoutingMetrics } from './routing-metrics.js';

/** A part of the call with an endpoint's response. */
export interface BilledSlice extends Slice {
  readonly target: EndpointTarget;
  /** Null when the upstream does not report it. */
  readonly promptTokens: number | null;
  readonly totalTokens: number | null;
  /** Only where the upstream counts them separately. */
  readonly tokensByModality?: TokensByModality;
}

/** A served part of the call. */
export interface ServedSlice extends BilledSlice {
  readonly vectors: readonly Vector[];
  readonly upstreamId: string | null;
}

export interface RoutedCall {
  /**
   * In the order of the inputs. For a failed call: the slices that were served, and that the provider charges for.
   */
  readonly served: readonly ServedSlice[];
  /** Slices that providers charge for without a usable result. */
  readonly wasted: readonly BilledSlice[];
  readonly attempts: readonly GenerationAttempt[];
  /** Null when every input was served. */
  readonly error: AppError | null;
}

// Slices of one call in flight.
const PARALLEL_SLICES = 8;

// Milliseconds. A provider that asks for a longer delay is not waited for: the caller receives it as Retry-After.
const MAX_RETRY_DELAY = 5_000;

interface Run {
  /** A separate object: permits of endpoints must not keep the vectors of a call alive. */
  readonly owner: PermitOwner;
  readonly request: EmbeddingRequest;
  readonly targets: readonly EndpointTarget[];
  /** performance.now() */
  readonly deadline: number;
  readonly cancellation: Cancellation;
  /** The failures of the call in order of time: the first ended it, and cancelled slices follow. */
  readonly failures: unknown[];
  readonly attempts: GenerationAttempt[];
  readonly served: ServedSlice[];
  readonly wasted: BilledSlice[];
  readonly credentials: CallCredentials;
}

/** The endpoints that a slice still has to try. */
interface Fallback {
  /** Those of the call, then again those that were skipped because they had no free permit. */
  readonly targets: readonly EndpointTarget[];
  /** Of the present endpoint. */
  readonly index: number;
  /** The caller's error if no further endpoint is tried. */
  readonly lastError: AppError | null;
  /** Of the endpoint before: the slice already respects its caps. */
  readonly splitFor: ModelEndpoint | null;
}

/** Unknown members are passed upstream, and may be the reason for a response in another form. */
function mayComeOfExtras({ kind }: EndpointFailure, { extra }: EmbeddingRequest): boolean {
  return kind === 'broken' && Object.keys(extra).length > 0;
}

const isLastOf = ({ targets, index }: Fallback): boolean => index + 1 >= targets.length;

@Injectable()
export class EmbeddingRouter {
  constructor(
    private readonly caller: EndpointCaller,
    private readonly health: EndpointHealthRegistry,
    private readonly circuits: CredentialCircuits,
    private readonly config: AppConfig,
    private readonly metrics: RoutingMetrics,
    private readonly tracing: Tracing,
    private readonly yieldQueue: YieldQueue,
  ) {}

  /** Never throws: every call is a generation, however it ends. `deadline`: performance.now() */
  async run(route: Route, request: EmbeddingRequest, deadline: number): Promise<RoutedCall> {
    const run: Run = {
      owner: { accountId: route.accountId },
      request,
      targets: route.targets,
      deadline,
      cancellation: new Cancellation(),
      failures: [],
      attempts: [],
      served: [],
      wasted: [],
      credentials: new CallCredentials(this.circuits, route.accountId),
    };
    let error: AppError | null = null;
    try {
      await this.serve(
        { start: 0, input: request.input },
        { targets: run.targets, index: 0, lastError: null, splitFor: null },
        run,
      );
    } catch (last) {
      const [failure = last] = run.failures;
      error = toAppError(failure);
    }
    const served = run.served.toSorted((one, other) => one.start - other.start);
    return { served, wasted: run.wasted, attempts: run.attempts, error };
  }

  /** Serves a slice through the first endpoint that can; each splits it by its own caps. */
  private async serve(slice: Slice, fallback: Fallback, run: Run): Promise<void> {
    const { targets, index, lastError } = fallback;
    const target = targets[index];
    if (!target) throw new AppError('unavailable', { detail: 'no endpoint is left' });
    const isLast = isLastOf(fallback);
    const serveThis = async (part: Slice): Promise<void> => {
      run.cancellation.throwIfAborted();
      if (!run.credentials.mayAsk(target)) {
        if (isLast) throw lastError ?? run.credentials.passedOverError(target);
        return this.serve(part, { targets, index: index + 1, lastError, splitFor: target.endpoint }, run);
      }
      try {
        run.served.push(await this.serveThrough(target, part, run, fallback));
      } catch (failure) {
        // Another slice has failed permanently: no other endpoint is tried for this one.
        if (!(failure instanceof EndpointFailure) || run.cancellation.aborted) throw failure;
        if (performance.now() >= run.deadline) throw new AppError('operation_timeout', { cause: failure });
        // A provider's lack of support matters less when another one supports the request and has failed.
        const error = (failure.isOwnRejection ? lastError : null) ?? run.credentials.errorOf(failure, target);
        if (isLast || !failure.isWorthAnother) throw error;
        // An endpoint without a free permit is able to serve: it is waited for when no other one serves.
        const next = failure.isSaturation
          ? { targets: [...targets, target], lastError }
          : { targets, lastError: error };
        await this.serve(part, { ...next, index: index + 1, splitFor: target.endpoint }, run);
      }
    };
    // No more than there are permits: further slices would only wait for each other.
    const parallel = Math.min(PARALLEL_SLICES, this.config.endpointConcurrency);
    const split =
      fallback.splitFor === target.endpoint
        ? [slice]
        : splitCallYielding(slice, target, () => this.yieldQueue.begin(run.owner.accountId));
    const slices = split instanceof Promise ? await split : split;
    await mapBounded(slices, parallel, serveThis, (failure) => {
      run.failures.push(failure);
      // The other slices would be charged and discarded.
      run.cancellation.abort();
    });
  }

  /** Retries a transient failure, but only at the last endpoint: before it, the next one takes over. */
  private async serveThrough(
    target: EndpointTarget,
    part: Slice,
    run: Run,
    fallback: Fallback,
  ): Promise<ServedSlice> {
    for (let repeats = 0; ; repeats++) {
      try {
        return await this.attempt(target, part, run, fallback);
      } catch (failure) {
        const mayRepeat = isLastOf(fallback) && repeats < this.config.providerRetries;
        if (!(failure instanceof EndpointFailure) || !failure.isWorthRepeating || !mayRepeat) throw failure;
        const pause = this.retryDelay(repeats, failure);
        if (pause > MAX_RETRY_DELAY || performance.now() + pause >= run.deadline) throw failure;
        await delay(pause, undefined, { signal: toAbortSignal(run.cancellation) }).catch(() => {
          throw failure;
        });
      }
    }
  }

  /** One call to the endpoint, with one of its permits. */
  private async attempt(
    target: EndpointTarget,
    part: Slice,
    run: Run,
    fallback: Fallback,
  ): Promise<ServedSlice> {
    const health = this.health.of(target);
    const permit =
      health.permits.tryAcquire(this.config.endpointConcurrency, run.owner) ??
      (await this.waitForPermit(target, health, run, fallback));
    try {
      // A call that ended while it waited sends no request.
      run.cancellation.throwIfAborted();
      return await this.tracing.span('embeddings', { kind: 'client' }, (span) =>
        this.attemptWithin(span, target, health, part, run),
      );
    } finally {
      permit.release();
    }
  }

  /** A call without a permit sends no request, which counts against no endpoint's health. */
  private async waitForPermit(
    target: EndpointTarget,
    { permits }: EndpointHealth,
    run: Run,
    fallback: Fallback,
  ): Promise<Permit> {
    const startedAt = performance.now();
    const mayWait = isLastOf(fallback) || fallback.index >= run.targets.length;
    if (mayWait) {
      const leave = this.metrics.waits(target.provider.slug);
      const permit = await permits.wait(run.owner, run.deadline, run.cancellation);
      leave();
      if (permit) return permit;
      run.cancellation.throwIfAborted();
    }
    this.note(run, target, startedAt, null, 'saturated');
    // The provider has not answered; the call's own deadline is over (docs/contract.md#errors).
    if (mayWait) throw new AppError('operation_timeout');
    throw new EndpointFailure('overloaded', null, 'too many calls to this endpoint are in flight');
  }

  private async attemptWithin(
    span: Span | null,
    target: EndpointTarget,
    health: EndpointHealth,
    part: Slice,
    run: Run,
  ): Promise<ServedSlice> {
    const startedAt = performance.now();
    const note = (status: number | null, errorType: string | null): void => {
      const attempt = this.note(run, target, startedAt, status, errorType);
      span?.setAttributes(describeAttempt(attempt, target, part));
    };
    try {
      const timeout = Math.max(1, Math.min(this.config.providerTimeout, run.deadline - startedAt));
      const answer = await this.caller.call(target, run.request, part.input, {
        timeout,
        signal: run.cancellation,
        accountId: run.owner.accountId,
      });
      note(200, null);
      const now = performance.now();
      // Member by member, as in generation-record.ts.
      const { vectors, promptTokens, totalTokens, tokensByModality, upstreamId } = answer;
      run.credentials.served(target);
      health.recordSuccess(now, now - startedAt, totalTokens ?? promptTokens);
      const { start, input } = part;
      const served = { start, input, target, vectors, promptTokens, totalTokens, upstreamId };
      return tokensByModality === undefined ? served : { ...served, tokensByModality };
    } catch (failure) {
      if (failure instanceof EndpointFailure) {
        const isCutShort = run.cancellation.aborted;
        note(failure.status, isCutShort ? 'cancelled' : failure.kind);
        failure.shiftInputs(part.start);
        run.credentials.noteFailure(failure, target);
        if (failure.usage) run.wasted.push({ ...part, target, ...failure.usage });
        if (failure.isOutage && !isCutShort && !mayComeOfExtras(failure, run.request))
          health.recordFailure(performance.now());
      }
      throw failure;
    }
  }

  private note(
    run: Run,
    target: EndpointTarget,
    startedAt: number,
    status: number | null,
    errorType: string | null,
  ): GenerationAttempt {
    const attempt = {
      provider: target.provider.slug,
      endpoint: endpointName(target),
      status,
      errorType,
      durationMs: Math.round(performance.now() - startedAt),
    };
    run.attempts.push(attempt);
    this.metrics.attempted(attempt);
    return attempt;
  }

  /** Milliseconds: the provider's delay, or a random time below a bound that doubles. */
  private retryDelay(repeats: number, { retryAfter }: EndpointFailure): number {
    if (retryAfter !== null) return retryAfter * 1000;
    const bounds = { base: this.config.retryBaseDelay, max: Infinity };
    return jitteredDelay(repeats, bounds, this.health.random());
  }
}
