// The money of one call of any operation: reserved before providers are called, settled with the call's generation. A call
// may reserve more than once; all of its reservations are settled together.
import type { CancelSignal } from '../concurrency/cancellation.js';
import type { GuardedCaller } from '../domain/keys/api-key.js';
import type { SpendBound, SpendRelease } from '../domain/spend/spend-limit.js';
import { isAboutMoney } from './spend-limiter.js';
import type { Reservation, SpendBounds, SpendLimiter } from './spend-limiter.js';

export class CallSpend {
  private readonly reservations: Reservation[] = [];

  constructor(
    private readonly limiter: Pick<SpendLimiter, 'reserve'>,
    private readonly caller: GuardedCaller,
  ) {}

  /**
   * Waits for money that other calls have reserved, until `signal` ends the wait with its reason. Throws an error that
   * isAboutMoney() when the limit is exhausted.
   */
  async reserve(bounds: SpendBounds, signal: CancelSignal | null = null): Promise<void> {
    this.reservations.push(await this.limiter.reserve(this.caller, bounds, undefined, signal));
  }

  /** Returns false when the limit is exhausted, without waiting for other calls. */
  async tryReserve(bounds: SpendBounds, signal: CancelSignal | null = null): Promise<boolean> {
    try {
      this.reservations.push(await this.limiter.reserve(this.caller, bounds, 0, signal));
      return true;
    } catch (error) {
      if (isAboutMoney(error)) return false;
      throw error;
    }
  }

  /** The upper bound of the charge; null where no limit applies. */
  get bound(): SpendBound | null {
    const sum = { cost: 0n, costWithByok: 0n };
    for (const { bound } of this.reservations) {
      if (bound === null) return null;
      sum.cost += bound.cost;
      sum.costWithByok += bound.costWithByok;
    }
    return sum;
  }

  /** The generation log commits them in the statement that records the cost. */
  get releases(): SpendRelease[] {
    return this.reservations.flatMap(({ releases }) => releases);
  }

  /**
   * Calls `end` when a lease that holds money of the call lapses: the process was suspended, or cut off from the database, for
   * longer than its calls may last. Returns the way to stop that.
   */
  onLapse(end: () => void): () => void {
    const stops = this.releases.map(({ lease }) => lease.onLapse(end));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Call it on every path. It releases all that was not handed to the log. */
  close(): void {
    for (const reservation of this.reservations) reservation.close();
  }
}
