// The time as an injected dependency, so that tests choose the date.

export abstract class Clock {
  abstract now(): Date;
}

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

/**
 * The time of the database, continued by the monotonic clock of this process: jumps of the machine's clock have no
 * effect. Until the first reading it shows the machine's time.
 */
export class SynchronizedClock extends Clock {
  // Milliseconds that two readings may differ before the newer one applies.
  private static readonly TOLERANCE = 20;
  private offset: number | null = null;

  override now(): Date {
    return this.offset === null ? new Date() : new Date(performance.now() + this.offset);
  }

  /** `sentAt` is the time of the query (performance.now()); the other clock showed `moment` between then and now. */
  synchronize(moment: Date, sentAt: number): void {
    const uncertainty = (performance.now() - sentAt) / 2;
    const offset = moment.getTime() - sentAt - uncertainty;
    const isKnown =
      this.offset !== null && Math.abs(offset - this.offset) <= uncertainty + SynchronizedClock.TOLERANCE;
    if (!isKnown) this.offset = offset;
  }
}
