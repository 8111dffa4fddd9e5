// One step of a call through its endpoints: the present one serves, or the next one takes over.
import { Injectable } from '@nestjs/common';
import type { ServingTarget } from '../endpoint-target.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { FallbackCall } from '../routed-call.js';
import type { RemainingEndpoints } from './remaining-endpoints.js';
import { deadlineError } from '../failures/caller-error.js';
import { RetryPolicy } from './retry-policy.js';

export type FallbackStep<Target extends ServingTarget, Answer> =
  { readonly answer: Answer } | { readonly remaining: RemainingEndpoints<Target> };

@Injectable()
export class EndpointFallback {
  constructor(private readonly retries: RetryPolicy) {}

  /** `attempt` throws EndpointFailure while another endpoint may be tried. Throws the caller's error when none is left. */
  async step<Target extends ServingTarget, Answer>(
    remaining: RemainingEndpoints<Target>,
    call: FallbackCall,
    attempt: () => Promise<Answer>,
  ): Promise<FallbackStep<Target, Answer>> {
    const { target, isLast } = remaining;
    const { ending, credentials } = call;
    ending.throwIfAborted();
    if (!credentials.mayUse(target)) return { remaining: remaining.skip(credentials) };
    try {
      // Before the last endpoint the next one takes over at once.
      return { answer: await (isLast ? this.retries.repeat(call, attempt) : attempt()) };
    } catch (failure) {
      // Once the call is ending, no other endpoint is tried.
      if (!(failure instanceof EndpointFailure) || ending.aborted) throw failure;
      if (performance.now() >= call.deadline) throw deadlineError(failure);
      const next = remaining.after(failure, credentials);
      if (failure.wasSent) call.hasRetried = true;
      return { remaining: next };
    }
  }
}
