// Group commit and shared statements: items that arrive at the same time, or while a batch is in flight, go out together.

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchLimits {
  /** Maximum of items in a batch. */
  readonly maxBatch: number;
  /** Maximum of batches in flight. Above one where a batch that hangs must not block the others. */
  readonly maxInFlight: number;
  /** Maximum of waiting items. Beyond it an item is rejected at once, so that a slow database cannot fill the memory. */
  readonly maxWaiting: number;
}

export interface BatchFailures {
  /** Whether a batch that failed with this error may succeed without one of its items. */
  isFaultOfOneItem(error: unknown): boolean;
  /** The rejection of an item beyond `maxWaiting`. */
  overflow(): Error;
}

export class MicroBatcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private readonly inFlight = new Set<Promise<void>>();
  private isScheduled = false;

  /**
   * `run` returns one result per item, in their order, or an empty list where items have no result. `groupOf` separates
   * items that must not share a batch: a batch succeeds as a whole or not at all, so it has to be one statement.
   */
  constructor(
    private readonly run: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly limits: BatchLimits & BatchFailures,
    private readonly groupOf: ((item: Item) => string) | null = null,
  ) {}

  /** Resolves when the item's batch is done, rejects when it has failed or its result is unknown. */
  add(item: Item): Promise<Result> {
    if (this.waiting.length >= this.limits.maxWaiting) {
      return Promise.reject(this.limits.overflow());
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** Resolves when no item waits or is in flight. */
  async drain(): Promise<void> {
    while (this.waiting.length > 0 || this.inFlight.size > 0) {
      this.begin();
      await Promise.race(this.inFlight);
    }
  }

  /** Starts after all items of this turn of the event loop have arrived: under load these are many requests. */
  private schedule(): void {
    if (this.isScheduled || this.waiting.length === 0 || this.inFlight.size >= this.limits.maxInFlight)
      return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.begin();
    });
  }

  private begin(): void {
    if (this.waiting.length === 0 || this.inFlight.size >= this.limits.maxInFlight) return;
    const done = this.runBatch(this.takeBatch());
    this.inFlight.add(done);
    void this.goOnAfter(done);
    this.schedule();
  }

  /** The longest waiting items of the first one's group. The others keep their order ahead of later arrivals. */
  private takeBatch(): Waiting<Item, Result>[] {
    const { maxBatch } = this.limits;
    const oldest = this.waiting.slice(0, maxBatch);
    this.waiting = this.waiting.slice(maxBatch);
    const { groupOf } = this;
    const [first] = oldest;
    if (!groupOf || !first) return oldest;
    const group = groupOf(first.item);
    const isOfGroup = ({ item }: Waiting<Item, Result>): boolean => groupOf(item) === group;
    if (oldest.every(isOfGroup)) return oldest;
    this.waiting = [...oldest.filter((each) => !isOfGroup(each)), ...this.waiting];
    return oldest.filter(isOfGroup);
  }

  /** Starts the next batch at the end of the turn, so that the callers of the ended one can add to it. */
  private async goOnAfter(done: Promise<void>): Promise<void> {
    await done;
    this.inFlight.delete(done);
    this.schedule();
  }

  /** A value that the database rejects fails its own item only: the batch is halved until that item is alone. */
  private async runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (this.limits.isFaultOfOneItem(error) && batch.length > 1) {
        const middle = batch.length >> 1;
        await this.runBatch(batch.slice(0, middle));
        await this.runBatch(batch.slice(middle));
        return;
      }
      for (const { reject } of batch) reject(error);
    }
  }
}
