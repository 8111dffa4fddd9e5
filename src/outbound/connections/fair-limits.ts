// Bounds that accounts share: names and origins of one account may have no answer, and must leave room for the others.
import type { SemaphoreLimits } from '../../concurrency/semaphore.js';

// The part of a bound that is reserved for accounts with few connections or look-ups.
const RESERVED = 1 / 4;

export function fairLimits(permits: number): SemaphoreLimits {
  return { permits, reserved: Math.floor(permits * RESERVED) };
}
