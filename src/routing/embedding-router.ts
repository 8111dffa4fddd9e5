// Serves a call: splits it by the caps of endpoints, and falls back within one vector space.
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { Cancellation, toAbortSignal } from '../concurrency/cancellation.js';
import { mapBounded } from '../concurrency/map-bounded.js';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { AppConfig } from '../config/app-config.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import { AppError, toAppError } from '../domain/errors.js';
import { splitCallYielding } from './call-splitter.js';
import type { Slice } from './call-splitter.js';
import { CallCredentials } from './credentials/call-credentials.js';
import { CredentialCircuits } from './credentials/credential-circuits.js';
import { passedOverKeys } from './credentials/passed-over-keys.js';
import { EndpointAttempts } from './endpoints/endpoint-attempts.js';
import type { EndpointTarget } from './endpoints/endpoint-target.js';
import { NO_RETRY } from './failures/caller-error.js';
import { EndpointFailure } from './failures/endpoint-failure.js';
import { MAX_RETRY_DELAY, outranks, RetryPolicy } from './retry-policy.js';
import type { Route } from './route-planner.js';
import type { RoutedCall, Run, ServedSlice } from './routed-call.js';

// Slices of one call in flight.
const PARALLEL_SLICES = 8;

/** The endpoints that a slice still has to try. */
interface Fallback {
  /** Those of the call, then again those that were skipped because they had no free permit. */
  readonly targets: readonly EndpointTarget[];
  /** Of the present endpoint. */
  readonly index: number;
  /** The caller's error if no further endpoint is tried. */
  readonly last: { readonly error: AppError; readonly rank: number } | null;
  /** Of the endpoint before: the slice already respects its caps. */
  readonly splitFor: ModelEndpoint | null;
}

const isLastOf = ({ targets, index }: Fallback): boolean => index + 1 >= targets.length;

@Injectable()
export class EmbeddingRouter {
  constructor(
    private readonly attempts: EndpointAttempts,
    private readonly retries: RetryPolicy,
    private readonly circuits: CredentialCircuits,
    private readonly config: AppConfig,
    private readonly yieldQueue: YieldQueue,
  ) {}

  /** Never throws: every call is a generation, however it ends. `deadline`: performance.now() */
  async run(route: Route, request: EmbeddingRequest, deadline: number): Promise<RoutedCall> {
    const run: Run = {
      owner: { accountId: route.accountId },
      request,
      targets: route.targets,
      deadline,
      ending: new Cancellation(),
      cancellation: new Cancellation(),
      failures: [],
      attempts: [],
      served: [],
      wasted: [],
      credentials: new CallCredentials(this.circuits, route.accountId),
      sentSlices: 0,
      hasRetried: false,
    };
    let error: AppError | null = null;
    try {
      await this.serve(
        { start: 0, input: request.input },
        { targets: run.targets, index: 0, last: null, splitFor: null },
        run,
      );
    } catch (last) {
      const [failure = last] = run.failures;
      error = toAppError(failure);
      // Retries of clients would multiply those of this service.
      if (run.hasRetried) error = error.withHeaders(NO_RETRY);
    }
    const served = run.served.toSorted((one, other) => one.start - other.start);
    const passedOver = passedOverKeys(run);
    return { served, wasted: run.wasted, attempts: run.attempts, passedOver, error };
  }

  /** Serves a slice through the first endpoint that can; each splits it by its own caps. */
  private async serve(slice: Slice, fallback: Fallback, run: Run): Promise<void> {
    const target = fallback.targets[fallback.index];
    if (!target) throw new AppError('unavailable', { detail: 'no endpoint is left' });
    // No more than there are permits: further slices would only wait for each other.
    const parallel = Math.min(PARALLEL_SLICES, this.config.endpointConcurrency);
    const split =
      fallback.splitFor === target.endpoint
        ? [slice]
        : splitCallYielding(slice, target, () => this.yieldQueue.begin(run.owner.accountId));
    const slices = split instanceof Promise ? await split : split;
    if (fallback.index === 0) run.sentSlices += slices.length;
    const serveOne = (part: Slice): Promise<void> => this.serveOne(part, target, fallback, run);
    await mapBounded(slices, parallel, serveOne, (failure) => {
      run.failures.push(failure);
      run.ending.abort();
      // A retry may have what is served until then (embeddings/cache/partial-results.ts), unless the request has to change.
      if (!(failure instanceof AppError) || failure.payer === 'caller') run.cancellation.abort();
    });
  }

  private async serveOne(part: Slice, target: EndpointTarget, fallback: Fallback, run: Run): Promise<void> {
    const { targets, index, last } = fallback;
    const isLast = isLastOf(fallback);
    run.ending.throwIfAborted();
    if (!run.credentials.mayAsk(target)) {
      if (isLast) throw last?.error ?? run.credentials.passedOverError(target);
      return this.serve(part, { targets, index: index + 1, last, splitFor: target.endpoint }, run);
    }
    try {
      run.served.push(
        await this.serveThrough(target, part, run, isLast, isLast || index >= run.targets.length),
      );
    } catch (failure) {
      // Another slice has failed permanently: no other endpoint is tried for this one.
      if (!(failure instanceof EndpointFailure) || run.ending.aborted) throw failure;
      if (performance.now() >= run.deadline) throw new AppError('operation_timeout', { cause: failure });
      const { consequences, failureClass, wasSent } = failure;
      const isLess = last !== null && outranks(last, consequences);
      const worst = isLess
        ? last
        : { error: run.credentials.errorOf(failure, target), rank: consequences.rank };
      if (isLast || !consequences.next) throw worst.error;
      if (wasSent) run.hasRetried = true;
      // An endpoint without a free permit is able to serve: it is waited for when no other one serves.
      const next =
        failureClass === 'saturated' ? { targets: [...targets, target], last } : { targets, last: worst };
      await this.serve(part, { ...next, index: index + 1, splitFor: target.endpoint }, run);
    }
  }

  /** Repeats a passing failure, but only at the last endpoint: before it, the next one takes over. */
  private async serveThrough(
    target: EndpointTarget,
    part: Slice,
    run: Run,
    isLast: boolean,
    mayWait: boolean,
  ): Promise<ServedSlice> {
    for (let repeats = 0; ; repeats++) {
      try {
        return await this.attempts.attempt(target, part, run, mayWait);
      } catch (failure) {
        const mayRepeat = isLast && !run.ending.aborted;
        if (!(failure instanceof EndpointFailure) || !mayRepeat || !this.retries.mayRepeat(failure, repeats))
          throw failure;
        const pause = this.retries.delayOf(failure, repeats);
        // The other slices of a call would be lost: a slice of several waits for as long as the call may take.
        const longest = run.sentSlices > 1 ? Infinity : MAX_RETRY_DELAY;
        if (pause > longest || performance.now() + pause >= run.deadline) throw failure;
        run.hasRetried = true;
        await delay(pause, undefined, { signal: toAbortSignal(run.ending) }).catch(() => {
          throw failure;
        });
      }
    }
  }
}
