// Bounds parallel work, shared fairly between keys (accounts), with a bounded queue for each key: one key's queue refuses
// nothing of another's.
import { FairSemaphore } from './fair-semaphore.js';
import type { Permit } from './fair-semaphore.js';

export interface BulkheadLimits {
  /** Works that run at once. */
  readonly permits: number;
  /** Permits that only a key gets that holds none. */
  readonly reserved: number;
  /** Works of one key that may wait; the next one is refused. */
  readonly maxWaiting: number;
}

export class FairBulkhead {
  private readonly semaphore: FairSemaphore;
  private readonly maxWaiting: number;
  /** By key, while some wait. */
  private readonly waiting = new Map<string, number>();

  constructor(
    { permits, reserved, maxWaiting }: BulkheadLimits,
    private readonly rejection: () => Error,
  ) {
    this.semaphore = new FairSemaphore(permits, reserved);
    this.maxWaiting = maxWaiting;
  }

  /** Rejects with the refusal when as many works of the key wait as may. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const permit = this.semaphore.tryAcquire(key) ?? (await this.wait(key));
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  private async wait(key: string): Promise<Permit> {
    const count = this.waiting.get(key) ?? 0;
    if (count >= this.maxWaiting) throw this.rejection();
    this.waiting.set(key, count + 1);
    try {
      return await this.semaphore.acquire(key);
    } finally {
      const left = (this.waiting.get(key) ?? 0) - 1;
      if (left > 0) this.waiting.set(key, left);
      else this.waiting.delete(key);
    }
  }
}
