// Bounds parallel work, shared fairly between keys (accounts), with a bounded queue for each key: a full queue rejects the
// work of its own key only.
import { Semaphore } from './semaphore.js';
import type { Permit } from './semaphore.js';

export interface BulkheadLimits {
  /** Maximum of parallel works. */
  readonly permits: number;
  /** Permits that only keys without a permit get. */
  readonly reserved: number;
  /** Maximum of waiting works of one key; the next one is rejected. */
  readonly maxWaiting: number;
}

export class FairBulkhead {
  private readonly semaphore: Semaphore;

  constructor(
    private readonly limits: BulkheadLimits,
    private readonly rejection: () => Error,
  ) {
    this.semaphore = new Semaphore(limits);
  }

  /** Throws the rejection when the queue of the key is full. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const permit = this.semaphore.tryAcquire(key) ?? (await this.wait(key));
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  private wait(key: string): Promise<Permit> {
    if (this.semaphore.waitingOf(key) >= this.limits.maxWaiting) throw this.rejection();
    return this.semaphore.acquire(key);
  }
}
