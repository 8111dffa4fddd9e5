// The outcomes of a day by the minute, for reports: coarse, and small however busy the endpoint is.

const MINUTE = 60_000;
const MINUTES_OF_A_DAY = 1_440;

interface Minute {
  readonly minute: number;
  successes: number;
  failures: number;
}

/** `now` is performance.now() in milliseconds. */
export class OutcomeHistory {
  /** Only minutes in which there were calls, oldest first. */
  private readonly minutes: Minute[] = [];

  record(now: number, isSuccess: boolean): void {
    const entry = this.entryOf(Math.floor(now / MINUTE));
    if (isSuccess) entry.successes++;
    else entry.failures++;
  }

  /** The share of successes in the last minutes, the current one included; null without calls. */
  uptime(now: number, minutes: number): number | null {
    const oldest = Math.floor(now / MINUTE) - minutes + 1;
    const sums = { successes: 0, calls: 0 };
    for (const { minute, successes, failures } of this.minutes) {
      if (minute < oldest) continue;
      sums.successes += successes;
      sums.calls += successes + failures;
    }
    return sums.calls === 0 ? null : sums.successes / sums.calls;
  }

  private entryOf(minute: number): Minute {
    const newest = this.minutes.at(-1);
    if (newest?.minute === minute) return newest;
    const created = { minute, successes: 0, failures: 0 };
    this.minutes.push(created);
    const oldest = this.minutes[0];
    if (oldest && oldest.minute <= minute - MINUTES_OF_A_DAY) this.minutes.shift();
    return created;
  }
}
