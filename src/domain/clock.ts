// The time as an injected part, so that tests decide what day it is.

export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

/**
 * The time of another clock, the database's, carried on by the monotonic clock of this process: whatever the clock of this
 * machine shows, and however it jumps, changes nothing. Before the first reading it is the machine's.
 */
export class SynchronizedClock extends Clock {
  // Milliseconds by which two readings may differ before the newer one counts.
  private static readonly TOLERANCE = 20;
  private offset: number | null = null;

  override now(): Date {
    return this.offset === null ? new Date() : new Date(performance.now() + this.offset);
  }

  /** `sentAt`: when the other clock was asked (performance.now()); it showed `moment` between then and now. */
  synchronize(moment: Date, sentAt: number): void {
    const uncertainty = (performance.now() - sentAt) / 2;
    const offset = moment.getTime() - sentAt - uncertainty;
    const isKnown =
      this.offset !== null && Math.abs(offset - this.offset) <= uncertainty + SynchronizedClock.TOLERANCE;
    if (!isKnown) this.offset = offset;
  }
}
