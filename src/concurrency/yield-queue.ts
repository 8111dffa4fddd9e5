// Long synchronous work runs piece by piece: one piece per iteration of the event loop, however many calls and deliveries
// are ready, so that small requests are served in between. Accounts alternate, so that one account with much work does not
// delay the work of the others.

// Milliseconds after which a piece of work lets other events run.
const PIECE = 5;
// Iterations of the event loop from one piece to the next. They take microseconds when there is nothing else to do; else
// a small request, which passes through several iterations, does not meet a piece in each of them.
const ITERATIONS_BETWEEN = 4;

/** Owners of a piece of work. No caller waits for a delivery. */
export type WorkOwner = 'call' | 'delivery';

interface Waiter {
  readonly resolve: () => void;
  readonly owner: WorkOwner;
  /** performance.now() */
  readonly since: number;
}

export class YieldQueue {
  /** By account, the next one first. */
  private readonly waiting = new Map<string, Waiter[]>();
  /** performance.now() of the first piece of this iteration; null before it. */
  private begunAt: number | null = null;
  private isScheduled = false;

  /** Resolves at the turn of the caller, in order of arrival within its account. The turn lasts until the caller next waits. */
  enter(accountId: string, owner: WorkOwner = 'call'): Promise<void> {
    return new Promise((resolve) => {
      const waiter = { resolve, owner, since: performance.now() };
      const own = this.waiting.get(accountId);
      if (own) own.push(waiter);
      else this.waiting.set(accountId, [waiter]);
      if (!this.isScheduled) this.schedule(1);
    });
  }

  /** Starts work of an account that checks the clock itself. Its first piece begins now. */
  begin(accountId: string, owner: WorkOwner = 'call'): Work {
    return new Work(this, accountId, owner);
  }

  /**
   * Milliseconds that the call that waits longest has waited: long work does not delay the event loop, only itself. A
   * delivery that waits is no reason to reject calls.
   */
  get delay(): number {
    const now = performance.now();
    let longest = 0;
    for (const waiters of this.waiting.values()) {
      const first = waiters.find(({ owner }) => owner === 'call');
      if (first) longest = Math.max(longest, now - first.since);
    }
    return longest;
  }

  private next(): void {
    this.isScheduled = false;
    const [first] = this.waiting;
    if (!first) return;
    const [accountId, waiters] = first;
    const waiter = waiters.shift();
    this.waiting.delete(accountId);
    if (waiters.length > 0) this.waiting.set(accountId, waiters);
    // Also when no other waits: this one may enter again at once.
    this.schedule(ITERATIONS_BETWEEN);
    waiter?.resolve();
  }

  /** When the pieces of this iteration of the event loop began: all that begin in it share the time of one. */
  beginPiece(): number {
    if (this.begunAt === null) {
      this.begunAt = performance.now();
      setImmediate(() => (this.begunAt = null));
    }
    return this.begunAt;
  }

  private schedule(iterations: number): void {
    this.isScheduled = true;
    setImmediate(() => {
      if (iterations > 1) this.schedule(iterations - 1);
      else this.next();
    });
  }
}

/** The part of Work that a loop with steps of its own needs. */
export type Pace = Pick<Work, 'isDue' | 'yieldNow'>;

/** For work that is known to be short. */
export const NEVER_YIELD: Pace = { isDue: false, yieldNow: () => Promise.resolve() };

/** Work that yields whenever a piece of it has used up its time. */
export class Work {
  /** Milliseconds that the pieces of run() have taken so far, without the waits between them. */
  busyTime = 0;
  private begunAt: number;

  constructor(
    private readonly queue: Pick<YieldQueue, 'enter' | 'beginPiece'>,
    private readonly accountId: string,
    private readonly owner: WorkOwner = 'call',
  ) {
    this.begunAt = queue.beginPiece();
  }

  /** Check it between two steps. */
  get isDue(): boolean {
    return performance.now() - this.begunAt >= PIECE;
  }

  /** Waits for the next turn. */
  async yieldNow(): Promise<void> {
    await this.queue.enter(this.accountId, this.owner);
    this.begunAt = this.queue.beginPiece();
  }

  async run<Result>(pieces: Generator<undefined, Result>): Promise<Result> {
    for (;;) {
      const startedAt = performance.now();
      const piece = pieces.next();
      const endedAt = performance.now();
      this.busyTime += endedAt - startedAt;
      if (piece.done === true) return piece.value;
      if (endedAt - this.begunAt >= PIECE) await this.yieldNow();
    }
  }
}
