// Lets the work of lanes that keeps the processor for milliseconds be done piece by piece, with the calls in between: one
// piece of one lane for each turn of the event loop, however many lanes have got what they waited for. Accounts take turns
// with each other, so that one with many destinations makes no other wait for all of them.

// Milliseconds that a piece of work may take before what else waits is done.
const PIECE = 5;

export class YieldQueue {
  /** By account, the next one first. */
  private readonly waiting = new Map<string, (() => void)[]>();

  /** Resolves when it is the caller's turn, behind all of its account who have asked before; it lasts until the caller next waits. */
  enter(accountId: string): Promise<void> {
    return new Promise((resolve) => {
      const isIdle = this.waiting.size === 0;
      const own = this.waiting.get(accountId);
      if (own) own.push(resolve);
      else this.waiting.set(accountId, [resolve]);
      if (isIdle) setImmediate(() => this.next());
    });
  }

  /** Work of an account that looks at the clock itself; its first piece begins now. */
  begin(accountId: string): Work {
    return new Work(this, accountId);
  }

  private next(): void {
    const [first] = this.waiting;
    if (!first) return;
    const [accountId, resolvers] = first;
    const resolve = resolvers.shift();
    this.waiting.delete(accountId);
    if (resolvers.length > 0) this.waiting.set(accountId, resolvers);
    if (this.waiting.size > 0) setImmediate(() => this.next());
    resolve?.();
  }
}

/** Work that gives way whenever a piece of it has taken its time. */
export class Work {
  /** Milliseconds of the processor that run() has taken so far, without those that others had meanwhile. */
  ruling = 0;
  private begunAt = performance.now();

  constructor(
    private readonly queue: Pick<YieldQueue, 'enter'>,
    private readonly accountId: string,
  ) {}

  /** To be asked between two steps. */
  get isDue(): boolean {
    return performance.now() - this.begunAt >= PIECE;
  }

  /** Waits for the next turn. */
  async yieldNow(): Promise<void> {
    await this.queue.enter(this.accountId);
    this.begunAt = performance.now();
  }

  async run<Result>(pieces: Generator<undefined, Result>): Promise<Result> {
    for (;;) {
      const startedAt = performance.now();
      const piece = pieces.next();
      const endedAt = performance.now();
      this.ruling += endedAt - startedAt;
      if (piece.done === true) return piece.value;
      if (endedAt - this.begunAt >= PIECE) await this.yieldNow();
    }
  }
}
