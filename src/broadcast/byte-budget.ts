// A bound on bytes that are in memory at once: who needs more than is left waits its turn.
export class ByteBudget {
  private used = 0;
  private readonly waiting: { readonly bytes: number; readonly resolve: () => void }[] = [];

  constructor(private readonly most: number) {}

  /** Resolves with the function that gives the bytes back. More than the whole budget counts as the whole. */
  async take(bytes: number): Promise<() => void> {
    // Who needs nothing waits for nobody.
    if (bytes === 0) return () => undefined;
    const share = Math.min(bytes, this.most);
    if (this.waiting.length > 0 || this.used + share > this.most) {
      await new Promise<void>((resolve) => this.waiting.push({ bytes: share, resolve }));
    } else {
      this.used += share;
    }
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.used -= share;
      this.serveWaiting();
    };
  }

  private serveWaiting(): void {
    for (let next = this.waiting[0]; next && this.used + next.bytes <= this.most; next = this.waiting[0]) {
      this.waiting.shift();
      this.used += next.bytes;
      next.resolve();
    }
  }
}
