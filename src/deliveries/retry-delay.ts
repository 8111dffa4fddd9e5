// The delay of a receiver's next attempt, which destinations and notifications share (docs/contract.md#deliveries).
import type { AppConfig } from '../config/app-config.js';
import { jitteredDelay } from '../concurrency/backoff.js';

// Seconds. A longer Retry-After is cut.
const MAX_RETRY_AFTER = 3_600;

interface FailedAttempt {
  readonly class: 'retry' | 'blocked';
  /** Seconds. */
  readonly retryAfter?: number;
}

/** Milliseconds. `failures`: attempts since the last success; `random` from 0 to 1. */
export function retryDelay(
  failure: FailedAttempt,
  failures: number,
  {
    retryBaseDelay: base,
    retryMaxDelay: max,
  }: Pick<AppConfig['deliveries'], 'retryBaseDelay' | 'retryMaxDelay'>,
  random: number,
): number {
  // A receiver that blocks needs a person: it is tried rarely, and processes try at different times.
  if (failure.class === 'blocked') return max * (0.5 + random / 2);
  const requested = Math.min(failure.retryAfter ?? 0, MAX_RETRY_AFTER) * 1_000;
  return Math.max(requested, jitteredDelay(failures, { base, max }, random));
}
