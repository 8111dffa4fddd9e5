// Serves a call: splits it by the limits of endpoints, and falls back within one vector space.
import { Injectable } from '@nestjs/common';
import { mapBounded } from '../../concurrency/map-bounded.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { AppError } from '../../domain/errors.js';
import { splitCallYielding } from '../call-splitter.js';
import type { Slice } from '../call-splitter.js';
import { CallCredentials } from '../credentials/call-credentials.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { EndpointAttempts } from '../fallback/endpoint-attempts.js';
import type { EndpointTarget } from '../endpoint-target.js';
import { EndpointFallback } from '../fallback/endpoint-fallback.js';
import { beginRun, endRun } from '../fallback/slice-run.js';
import { RemainingEndpoints } from '../fallback/remaining-endpoints.js';
import type { Route } from './route-planner.js';
import type { RoutedCall, Run } from '../routed-call.js';
import { sentMembers } from '../sent-members.js';

// Slices of one call in flight.
const PARALLEL_SLICES = 8;

type Remaining = RemainingEndpoints<EndpointTarget>;

@Injectable()
export class EmbeddingRouter {
  constructor(
    private readonly caller: EndpointCaller,
    private readonly attempts: EndpointAttempts,
    private readonly fallback: EndpointFallback,
    private readonly circuits: CredentialCircuits,
    private readonly config: AppConfig,
    private readonly yieldQueue: YieldQueue,
  ) {}

  /** Never throws: every call is a generation, however it ends. `deadline`: performance.now() */
  async run(route: Route, request: EmbeddingRequest, deadline: number): Promise<RoutedCall> {
    const credentials = new CallCredentials(this.circuits, route.accountId);
    const run: Run = beginRun(this.operationOf(request), route, credentials, deadline);
    try {
      await this.serve({ start: 0, input: request.input }, RemainingEndpoints.of(run.targets), run);
    } catch (last) {
      return endRun(run, run.failures[0] ?? last);
    }
    return endRun(run);
  }

  private operationOf(request: EmbeddingRequest): Run['operation'] {
    return {
      name: 'embeddings',
      droppedMembers: (target) => sentMembers(target, request.extra).dropped,
      send: (target, input, limits) => this.caller.call(target, request, input, limits),
    };
  }

  /** Serves a slice through the first endpoint that can; each splits it by its own limits. */
  private async serve(slice: Slice, remaining: Remaining, run: Run): Promise<void> {
    const split = this.split(slice, remaining, run);
    const slices = split instanceof Promise ? await split : split;
    // If one of several slices gave up before the deadline, the others would be lost.
    if (remaining.previous === null && slices.length > 1) run.maxRetryDelay = Infinity;
    // No more than there are permits: further slices would only wait for each other.
    const parallel = Math.min(PARALLEL_SLICES, this.config.endpointConcurrency);
    const serveOne = (part: Slice): Promise<void> => this.serveOne(part, remaining, run);
    await mapBounded(slices, parallel, serveOne, (failure) => {
      run.failures.push(failure);
      run.ending.abort();
      // A retry may have what is served until then (embeddings/cache/partial-results.ts), unless the request has to change.
      if (!(failure instanceof AppError) || failure.payer === 'caller') run.cancellation.abort();
    });
  }

  /** A slice that comes from another credential's target of the same endpoint already respects its limits. */
  private split(
    slice: Slice,
    { target, previous }: Remaining,
    { owner }: Run,
  ): readonly Slice[] | Promise<readonly Slice[]> {
    if (previous?.endpoint === target.endpoint) return [slice];
    return splitCallYielding(slice, target, () => this.yieldQueue.begin(owner.accountId));
  }

  private async serveOne(part: Slice, remaining: Remaining, run: Run): Promise<void> {
    const step = await this.fallback.step(remaining, run, () =>
      this.attempts.attempt(remaining.target, part, run, remaining.mayWait),
    );
    if ('answer' in step) run.served.push(step.answer);
    else await this.serve(part, step.remaining, run);
  }
}
