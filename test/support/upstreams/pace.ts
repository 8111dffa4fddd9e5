// Paces for functions that work in pieces.
import { YieldQueue } from '../../../src/concurrency/yield-queue.js';
import type { Pace, Work } from '../../../src/concurrency/yield-queue.js';

/** As in the service. */
export const createWork = (): Work => new YieldQueue().begin('account');

/** Is due after each step, and counts the pauses. */
export function createCountingPace(): Pace & { readonly pauses: number } {
  let pauses = 0;
  return {
    isDue: true,
    yieldNow: async () => {
      pauses++;
    },
    get pauses() {
      return pauses;
    },
  };
}
