// Group commit: what arrives while one write is under way goes out together in the next.
import { AppError } from '../domain/errors.js';
import { RefusedValue } from './database-errors.js';

interface Waiting<Item> {
  readonly item: Item;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchLimits {
  /** Items that one write takes at most. */
  readonly maxBatch: number;
  /** Items that may wait; beyond it an item is refused at once, so that a slow database cannot fill the memory. */
  readonly maxWaiting: number;
}

export class BatchWriter<Item> {
  private waiting: Waiting<Item>[] = [];
  private flushing: Promise<void> | null = null;

  constructor(
    private readonly write: (items: readonly Item[]) => Promise<void>,
    private readonly limits: BatchLimits,
  ) {}

  /** Resolves when the item is written, rejects when it is known not to be or when nobody can tell. */
  add(item: Item): Promise<void> {
    if (this.waiting.length >= this.limits.maxWaiting) {
      return Promise.reject(
        new AppError('unavailable', {
          detail: 'too many calls wait to be recorded',
          headers: { 'Retry-After': '1' },
        }),
      );
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.flushing ??= this.flush();
    });
  }

  /** Resolves when nothing waits any more. */
  async drain(): Promise<void> {
    while (this.flushing) await this.flushing;
  }

  private async flush(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, this.limits.maxBatch);
      this.waiting = this.waiting.slice(this.limits.maxBatch);
      await this.writeBatch(batch);
    }
    // In the same turn as the check above: an item that comes later must start a flush of its own.
    this.flushing = null;
  }

  /** A value that the database refuses fails its own item only: the batch is halved until that item stands alone. */
  private async writeBatch(batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await this.write(batch.map(({ item }) => item));
    } catch (error) {
      if (error instanceof RefusedValue && batch.length > 1) {
        const middle = batch.length >> 1;
        await this.writeBatch(batch.slice(0, middle));
        await this.writeBatch(batch.slice(middle));
        return;
      }
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { resolve } of batch) resolve();
  }
}
