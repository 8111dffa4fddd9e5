// How many calls a process may have under way, by how late its event loop is: the queue that a caller cannot see. As
// controlled delay does for packets, only lateness that stays counts: a single long task delays one look, and not all.

// Looks that one judgement is made of.
const LOOKS = 5;
// What is left of the calls under way when the loop stays late, and how fast the limit comes back.
const DECREASE = 0.8;
const INCREASE = 0.2;

export interface LoadLimitOptions {
  readonly ceiling: number;
  /** It never falls below: something has to be served for the lateness to end. */
  readonly floor: number;
  /** Milliseconds; 0: the ceiling holds, however late the loop is. */
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

  /** One look: so many milliseconds too late, with so many calls under way. */
  note(delay: number, inFlight: number): void {
    this.leastDelay = Math.min(this.leastDelay, delay);
    this.looks++;
    if (this.looks < LOOKS) return;
    const { ceiling, floor, toleratedDelay } = this.options;
    if (toleratedDelay > 0 && this.leastDelay > toleratedDelay) {
      // From what is really there: a limit far above it would have to fall many times before it is felt.
      this.limit = Math.max(floor, Math.floor(Math.min(this.limit, inFlight) * DECREASE));
    } else {
      this.limit = Math.min(ceiling, this.limit + Math.max(1, Math.ceil(this.limit * INCREASE)));
    }
    this.leastDelay = Infinity;
    this.looks = 0;
  }
}
