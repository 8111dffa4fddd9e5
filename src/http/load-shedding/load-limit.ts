// Limits the calls in flight by the delay of the event loop, which is a queue that callers cannot see. Like controlled
// delay (CoDel) for packets, it counts lasting delay only, and acts faster once it has begun. Up to the tolerated delay,
// callers are better off waiting than with an error (docs/decisions/0008-load-shedding.md).

// Milliseconds from the first call: until its code is compiled, a process is late without having too much to do.
const WARM_UP = 10_000;
// Milliseconds of uninterrupted lateness before the limit falls for the first time, and before it falls further.
const PATIENCE = 3_000;
const NEXT_PATIENCE = 1_000;
// Factor of the calls in flight while the loop stays late.
const DECREASE = 0.5;
// Rise of the limit in a second in which the loop is on time and calls are still rejected.
const INCREASE = 0.1;
// Milliseconds without a rejection until the limit is lifted: rejected callers repeat after a second (Retry-After).
const CALM = 1_000;
// Milliseconds over which served calls are counted.
const WINDOW = 1_000;

export interface LoadLimitOptions {
  readonly ceiling: number;
  /** Minimum of the limit: without any served call the delay would not end. */
  readonly floor: number;
  /** Milliseconds; 0: the limit stays at the ceiling. */
  readonly toleratedDelay: number;
}

/** The calls in flight, and the sums of those that were served and of those that the limit rejected. */
export interface Traffic {
  readonly calls: number;
  readonly served: number;
  readonly rejected: number;
}

export class LoadLimit {
  private limit: number;
  private warmAt = Infinity;
  private lateSince: number | null = null;
  private rejected = 0;
  private rejectedAt = 0;
  private notedAt = 0;
  private windowAt = 0;
  private servedBefore = 0;
  /** Calls that the process serves within the tolerated delay: so many may wait for it without being later than that. */
  private servedInTime = 0;

  constructor(private readonly options: LoadLimitOptions) {
    this.limit = options.ceiling;
  }

  get current(): number {
    return Math.floor(this.limit);
  }

  /** Adds a sample: the time and the delay of the event loop, both in milliseconds. */
  note(now: number, delay: number, { calls, served, rejected }: Traffic): void {
    const { ceiling, floor, toleratedDelay } = this.options;
    if (toleratedDelay === 0) return;
    if (now - this.windowAt >= WINDOW) {
      this.servedInTime = ((served - this.servedBefore) / (now - this.windowAt)) * toleratedDelay;
      this.servedBefore = served;
      this.windowAt = now;
    }
    if (rejected > this.rejected) this.rejectedAt = now;
    this.rejected = rejected;
    const elapsed = now - this.notedAt;
    this.notedAt = now;
    if (this.warmAt === Infinity && calls > 0) this.warmAt = now + WARM_UP;
    if (now < this.warmAt) return;

    const least = Math.max(floor, this.servedInTime);
    if (delay > toleratedDelay) {
      this.lateSince ??= now;
      if (now - this.lateSince < (this.limit < ceiling ? NEXT_PATIENCE : PATIENCE)) return;
      this.lateSince = now;
      // Starts from the calls in flight: a limit far above them would have to fall many times before it has an effect.
      this.limit = Math.min(ceiling, Math.max(least, Math.min(this.limit, calls) * DECREASE));
      return;
    }
    this.lateSince = null;
    if (now - this.rejectedAt >= CALM) this.limit = ceiling;
    else this.limit = Math.min(ceiling, Math.max(least, this.limit * (1 + (INCREASE * elapsed) / 1_000)));
  }
}
