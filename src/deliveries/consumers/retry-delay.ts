// The delay of a destination after a failure.
import type { AppConfig } from '../../config/app-config.js';
import { jitteredDelay } from '../../concurrency/backoff.js';
import type { SendFailure } from './poison-isolation.js';

// Seconds. A longer Retry-After of a platform is cut.
const MAX_RETRY_AFTER = 3_600;

/** Milliseconds until the next attempt after so many consecutive failures; `random` is between 0 and 1. */
export function delayAfter(
  failure: SendFailure,
  failures: number,
  { retryBaseDelay: base, retryMaxDelay: max }: AppConfig['deliveries'],
  random: number,
): number {
  // A blocked destination needs a person: it is tried rarely, and consumers try at different times.
  if (failure.class === 'blocked') return max * (0.5 + random / 2);
  const asked = Math.min(failure.retryAfter ?? 0, MAX_RETRY_AFTER) * 1_000;
  return Math.max(asked, jitteredDelay(failures, { base, max }, random));
}
