// How many requests a destination has in flight: one while it keeps up, one more after each accepted batch while it lags. A
// platform that fails several requests gets one less from then on, and is tried with one more from time to time.

// After so many accepted batches a bound that the platform has shown is raised by one.
const BATCHES_PER_RAISE = 50;

export class RequestWindow {
  private current = 1;
  /** The last number that the platform accepted. Its fraction counts the batches since then. */
  private bound: number;

  constructor(private readonly max: number) {
    this.bound = max;
  }

  get requests(): number {
    return this.current;
  }

  /** A batch was accepted; `hasMore`: the log has more entries right behind it. */
  note(hasMore: boolean): void {
    if (!hasMore) {
      this.current = 1;
      return;
    }
    this.bound = Math.min(this.bound + 1 / BATCHES_PER_RAISE, this.max);
    this.current = Math.min(this.current + 1, Math.floor(this.bound));
  }

  /** A request failed. The number is at fault only if there were several. */
  noteFailure(): void {
    if (this.current > 1) this.bound = this.current - 1;
    this.current = 1;
  }
}
