// The delay of a receiver's next attempt, which destinations and notifications share (docs/contract.md#deliveries).
import type { AppConfig } from '../config/app-config.js';
import { jitteredDelay } from '../concurrency/backoff.js';

// Seconds. A longer Retry-After is cut.
const MAX_RETRY_AFTER = 3_600;
// Milliseconds. With the search for due attempts the next one comes within a minute.
const MAX_DELAY_OF_REFUSALS = 50_000;

interface FailedAttempt {
  readonly class: 'retry' | 'blocked';
  readonly refusesAll?: boolean;
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
  // A receiver that blocks needs a person: it is tried rarely, and processes try at different times. One that answers and
  // refuses everything may have a fault of its own, which passes.
  if (failure.class === 'blocked') {
    const longest = failure.refusesAll === true ? Math.min(max, MAX_DELAY_OF_REFUSALS) : max;
    return longest * (0.5 + random / 2);
  }
  const requested = Math.min(failure.retryAfter ?? 0, MAX_RETRY_AFTER) * 1_000;
  return Math.max(requested, jitteredDelay(failures, { base, max }, random));
}
