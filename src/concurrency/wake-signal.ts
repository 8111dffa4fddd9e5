// The waits of one loop, one at a time: for a period, for news, and for the end of the loop.
export class WakeSignal {
  private resume: (() => void) | null = null;
  private isWaitingForNews = false;
  private hasNews = false;
  private hasEnded = false;

  get isStopped(): boolean {
    return this.hasEnded;
  }

  get isWoken(): boolean {
    return this.hasNews;
  }

  /** Reports news, which end a wait for news only. */
  wake(): void {
    this.hasNews = true;
    if (this.isWaitingForNews) this.resume?.();
  }

  /** Reports news that end any wait. */
  interrupt(): void {
    this.hasNews = true;
    this.resume?.();
  }

  /** Ends any wait, and lets no other begin. */
  stop(): void {
    this.hasEnded = true;
    this.resume?.();
  }

  /** Discards earlier news. */
  reset(): void {
    this.hasNews = false;
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

  /** Returns true when there are news, false when the time or the loop ends first. */
  async untilWoken(milliseconds: number): Promise<boolean> {
    if (this.hasNews) return !this.hasEnded;
    this.isWaitingForNews = true;
    await this.sleep(milliseconds);
    this.isWaitingForNews = false;
    return this.hasNews && !this.hasEnded;
  }
}
