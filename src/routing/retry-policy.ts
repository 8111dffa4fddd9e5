// When a request is repeated at the same endpoint, and whose failure its caller receives.
import { Injectable } from '@nestjs/common';
import { jitteredDelay } from '../concurrency/backoff.js';
import { AppConfig } from '../config/app-config.js';
import { EndpointHealthRegistry } from './endpoints/endpoint-health-registry.js';
import type { EndpointFailure } from './failures/endpoint-failure.js';
import { MOST_TELLING } from './failures/failure-classes.js';

// Milliseconds. The caller of a single request is not kept waiting longer: it receives the delay as Retry-After.
export const MAX_RETRY_DELAY = 5_000;

interface Ranked {
  readonly rank: number;
}

/** Of failures that say as little about the input, the first is the caller's; of others the last. */
export function outranks(one: Ranked, other: Ranked): boolean {
  return one.rank > other.rank || (one.rank === other.rank && one.rank < MOST_TELLING);
}

@Injectable()
export class RetryPolicy {
  constructor(
    private readonly config: AppConfig,
    private readonly health: EndpointHealthRegistry,
  ) {}

  mayRepeat({ consequences }: EndpointFailure, repeats: number): boolean {
    const { providerRetries } = this.config;
    const most = { never: 0, once: Math.min(1, providerRetries), configured: providerRetries };
    return repeats < most[consequences.repeat];
  }

  /** Milliseconds: the provider's delay, or a random time below a bound that doubles. */
  delayOf({ retryAfter }: EndpointFailure, repeats: number): number {
    if (retryAfter !== null && retryAfter > 0) return retryAfter * 1000;
    const bounds = { base: this.config.retryBaseDelay, max: Infinity };
    return jitteredDelay(repeats, bounds, this.health.random());
  }
}
