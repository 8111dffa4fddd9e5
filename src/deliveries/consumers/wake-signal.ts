// The waiting of a lane: for time to pass, for something new, and for being told to end.
export class WakeSignal {
  private readonly end = new AbortController();
  private resume: (() => void) | null = null;
  private isWaiting = false;
  private hasSignal = false;
  private hasEnded = false;

  get isStopped(): boolean {
    return this.hasEnded;
  }

  get isWoken(): boolean {
    return this.hasSignal;
  }

  /** Aborted when nothing may go on any more. */
  get aborted(): AbortSignal {
    return this.end.signal;
  }

  /** News end the waiting for news only. */
  wake(): void {
    this.hasSignal = true;
    if (this.isWaiting) this.resume?.();
  }

  /** Ends any waiting. */
  interrupt(): void {
    this.hasSignal = true;
    this.resume?.();
  }

  stop(): void {
    this.hasEnded = true;
    this.resume?.();
  }

  abort(): void {
    this.end.abort();
  }

  /** From here on only later news count. */
  reset(): void {
    this.hasSignal = false;
  }

  async sleep(milliseconds: number): Promise<void> {
    if (this.hasEnded || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      timer.unref();
      this.resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.resume = null;
  }

  /** True when there are news, false when the time is over first. */
  async untilWoken(milliseconds: number): Promise<boolean> {
    if (this.hasSignal) return !this.hasEnded;
    this.isWaiting = true;
    await this.sleep(milliseconds);
    this.isWaiting = false;
    return this.hasSignal && !this.hasEnded;
  }
}
