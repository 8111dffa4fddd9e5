// When a request is repeated at the same endpoint, and whose failure its caller receives.
import { Injectable } from '@nestjs/common';
import { jitteredDelay } from '../../concurrency/backoff.js';
import { sleep } from '../../concurrency/sleep.js';
import { AppConfig } from '../../config/app-config.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import { HIGHEST_RANK } from '../failures/failure-classes.js';
import type { FallbackCall } from '../routed-call.js';

// Milliseconds. The caller of a single request is not kept waiting longer: it receives the delay as Retry-After.
export const MAX_RETRY_DELAY = 5_000;

interface Ranked {
  readonly rank: number;
}

/** The caller receives the first of equal failures, but the last one of endpoints that could have taken the input. */
export function outranks(one: Ranked, other: Ranked): boolean {
  return one.rank > other.rank || (one.rank === other.rank && one.rank < HIGHEST_RANK);
}

export type RepeatedCall = Pick<
  FallbackCall,
  'deadline' | 'ending' | 'hasRetried' | 'maxRetryDelay' | 'isRepeatable'
>;

@Injectable()
export class RetryPolicy {
  constructor(
    private readonly config: AppConfig,
    private readonly health: EndpointHealthRegistry,
  ) {}

  /** Sends again after failures that pass. Throws the last failure, also when the call ends during a delay. */
  async repeat<Answer>(call: RepeatedCall, send: () => Promise<Answer>): Promise<Answer> {
    for (let repeats = 0; ; repeats++) {
      try {
        return await send();
      } catch (failure) {
        const delay = this.delayAfter(failure, repeats, call);
        if (delay === null) throw failure;
        call.hasRetried = true;
        await sleep(delay, call.ending).catch(() => {
          throw failure;
        });
      }
    }
  }

  /** Milliseconds; null: no repeat. */
  private delayAfter(failure: unknown, repeats: number, call: RepeatedCall): number | null {
    if (call.ending.aborted || !(failure instanceof EndpointFailure)) return null;
    if (call.isRepeatable?.(failure) === false || !this.mayRepeat(failure, repeats)) return null;
    const delay = this.delayOf(failure, repeats);
    return delay > call.maxRetryDelay || performance.now() + delay >= call.deadline ? null : delay;
  }

  private mayRepeat({ consequences }: EndpointFailure, repeats: number): boolean {
    const { providerRetries } = this.config;
    const most = { never: 0, once: Math.min(1, providerRetries), configured: providerRetries };
    return repeats < most[consequences.repeat];
  }

  /** Milliseconds: the provider's delay, or a random time below a bound that doubles. */
  private delayOf({ retryAfter }: EndpointFailure, repeats: number): number {
    if (retryAfter !== null && retryAfter > 0) return retryAfter * 1000;
    const bounds = { base: this.config.retryBaseDelay, max: Infinity };
    return jitteredDelay(repeats, bounds, this.health.random());
  }
}
