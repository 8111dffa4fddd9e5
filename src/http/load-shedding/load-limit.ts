// Limits the calls in flight by the delay of the event loop, which is a queue that callers cannot see. Like controlled
// delay (CoDel) for packets, it counts lasting delay only: a single long task delays one sample, not all.

// Samples per decision.
const LOOKS = 5;
// Factor of the calls in flight while the loop stays late, and the rate at which the limit recovers.
const DECREASE = 0.8;
const INCREASE = 0.2;

export interface LoadLimitOptions {
  readonly ceiling: number;
  /** Minimum of the limit: without any served call the delay would not end. */
  readonly floor: number;
  /** Milliseconds; 0: the limit stays at the ceiling. */
  readonly toleratedDelay: number;
}

export class LoadLimit {
  private limit: number;
  private leastDelay = Infinity;
  private looks = 0;

  constructor(private readonly options: LoadLimitOptions) {
    this.limit = options.ceiling;
  }

  get current(): number {
    return this.limit;
  }

  /** Adds one sample: the delay in milliseconds, and the calls in flight. */
  note(delay: number, inFlight: number): void {
    this.leastDelay = Math.min(this.leastDelay, delay);
    this.looks++;
    if (this.looks < LOOKS) return;
    const { ceiling, floor, toleratedDelay } = this.options;
    if (toleratedDelay > 0 && this.leastDelay > toleratedDelay) {
      // Starts from the calls in flight: a limit far above them would have to fall many times before it has an effect.
      this.limit = Math.max(floor, Math.floor(Math.min(this.limit, inFlight) * DECREASE));
    } else {
      this.limit = Math.min(ceiling, this.limit + Math.max(1, Math.ceil(this.limit * INCREASE)));
    }
    this.leastDelay = Infinity;
    this.looks = 0;
  }
}
