// Timers as a dependency: tests decide when time passes.

export interface Timer {
  cancel(): void;
}

export interface Scheduler {
  /** Monotonic milliseconds. */
  now(): number;
  after(milliseconds: number, run: () => void): Timer;
}

export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, Math.ceil(milliseconds));
    return { cancel: () => clearTimeout(timer) };
  },
};

/**
 * A timer whose deadline moves with every byte of a stream: moving it costs an assignment, and the timer looks at the
 * deadline when it fires.
 */
export class MovingTimer {
  private timer: Timer | null = null;
  private firesAt = Infinity;
  private deadline = Infinity;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly onDeadline: () => void,
  ) {}

  /** Milliseconds from now; Infinity: never. */
  set(milliseconds: number): void {
    this.deadline = this.scheduler.now() + milliseconds;
    if (this.deadline === Infinity || this.firesAt <= this.deadline) return;
    this.timer?.cancel();
    this.arm();
  }

  clear(): void {
    this.deadline = Infinity;
    this.firesAt = Infinity;
    this.timer?.cancel();
    this.timer = null;
  }

  private arm(): void {
    this.firesAt = this.deadline;
    this.timer = this.scheduler.after(this.deadline - this.scheduler.now(), () => this.fire());
  }

  private fire(): void {
    this.timer = null;
    this.firesAt = Infinity;
    if (this.deadline === Infinity) return;
    if (this.scheduler.now() < this.deadline) this.arm();
    else {
      this.deadline = Infinity;
      this.onDeadline();
    }
  }
}
