// Work in the background that repeats until the process stops: one run at a time, and each says when the next begins.
import { withTimeout } from './with-timeout.js';

export class RepeatedTask {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  /** `run` resolves with the milliseconds until the next run. It must not reject. */
  constructor(private readonly run: () => Promise<number>) {}

  /** `interval`: milliseconds from the end of a run to the next. Without `onFailure`, `run` must not reject. */
  static every(
    interval: number,
    run: () => Promise<void>,
    onFailure?: (error: unknown) => void,
  ): RepeatedTask {
    return new RepeatedTask(async () => {
      await settled(run, onFailure);
      return interval;
    });
  }

  /**
   * `period`: milliseconds from the start of a run to the start of the next, which follows at once when a run takes longer.
   * For work that must not come later than that. Without `onFailure`, `run` must not reject.
   */
  static periodic(
    period: number,
    run: () => Promise<void>,
    onFailure?: (error: unknown) => void,
  ): RepeatedTask {
    return new RepeatedTask(async () => {
      const startedAt = performance.now();
      await settled(run, onFailure);
      return Math.max(0, startedAt + period - performance.now());
    });
  }

  /** Whether a run in progress should come to its end. */
  get isStopping(): boolean {
    return this.stopped;
  }

  /** Starts the first run after `delay` milliseconds. */
  start(delay: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.runAndContinue();
    }, delay);
    this.timer.unref();
  }

  /** Starts no more runs. Resolves when the one in progress has ended, or after `limit` milliseconds. */
  async stop(limit?: number): Promise<void> {
    this.stopped = true;
    if (this.timer) clearTimeout(this.timer);
    await (limit === undefined ? this.running : withTimeout(this.running, limit, () => undefined));
  }

  private async runAndContinue(): Promise<void> {
    this.start(await this.run());
  }
}

async function settled(run: () => Promise<void>, onFailure?: (error: unknown) => void): Promise<void> {
  await (onFailure ? run().catch(onFailure) : run());
}
