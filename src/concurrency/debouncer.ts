// Gathers for a while what is to be done, each only once, and does it together.

// Milliseconds until what has failed is tried again.
const PAUSE_AFTER_FAILURE = 1_000;

export class Debouncer {
  private readonly pending = new Set<string>();
  /** Set until what it has begun is done: what comes meanwhile waits, so that a slow database is asked once at a time. */
  private timer: NodeJS.Timeout | null = null;

  /** `act` gets what has come within so many milliseconds. What it fails for is gathered again. */
  constructor(
    private readonly time: number,
    private readonly act: (items: readonly string[]) => Promise<void>,
  ) {}

  add(item: string): void {
    this.pending.add(item);
    this.schedule(this.time);
  }

  private schedule(time: number): void {
    this.timer ??= setTimeout(() => void this.run(), time).unref();
  }

  private async run(): Promise<void> {
    const items = [...this.pending];
    this.pending.clear();
    let pause = this.time;
    try {
      await this.act(items);
    } catch {
      for (const item of items) this.pending.add(item);
      pause = PAUSE_AFTER_FAILURE;
    }
    this.timer = null;
    if (this.pending.size > 0) this.schedule(pause);
  }
}
