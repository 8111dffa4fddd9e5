// Collects items for an interval, each once, and processes them together.

// Milliseconds until failed items are retried.
const PAUSE_AFTER_FAILURE = 1_000;

export class Debouncer {
  private readonly pending = new Set<string>();
  /** Set until the batch it started is done: later items wait, so that a slow database receives one request at a time. */
  private timer: NodeJS.Timeout | null = null;

  /** `act` receives the items of so many milliseconds. Items that it fails for are collected again. */
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
