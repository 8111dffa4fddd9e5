// The fall of the limit of calls in flight, and its recovery.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { LoadLimit } from './load-limit.js';

const SAMPLE_MS = 20;
const OPTIONS = { ceiling: 1_000, floor: 4, toleratedDelay: 1_000 };

/** A process that serves `rate` calls a second; the delay of its event loop is the time until the last call is served. */
class Simulation {
  now = 5_000;
  longestDelay = 0;
  readonly traffic = { calls: 0, served: 0, rejected: 0 };
  private arriving = 0;
  private serving = 0;

  constructor(
    readonly limit: LoadLimit,
    private readonly rate: number,
  ) {}

  /** So many calls arrive a second. Repeats until `seconds` have passed. */
  run(seconds: number, arrivals: number): void {
    this.longestDelay = 0;
    for (const end = this.now + seconds * 1_000; this.now < end; this.now += SAMPLE_MS) {
      for (this.arriving += (arrivals * SAMPLE_MS) / 1_000; this.arriving >= 1; this.arriving--) {
        if (this.traffic.calls < this.limit.current) this.traffic.calls++;
        else this.traffic.rejected++;
      }
      for (this.serving += (this.rate * SAMPLE_MS) / 1_000; this.serving >= 1; this.serving--) {
        if (this.traffic.calls === 0) continue;
        this.traffic.calls--;
        this.traffic.served++;
      }
      const delay = (this.traffic.calls / this.rate) * 1_000;
      this.longestDelay = Math.max(this.longestDelay, delay);
      this.limit.note(this.now, delay, this.traffic);
    }
  }

  rejectedIn(run: () => void): number {
    const before = this.traffic.rejected;
    run();
    return this.traffic.rejected - before;
  }
}

describe('LoadLimit', () => {
  let now: number;
  let limit: LoadLimit;

  /** Samples of so many seconds with one delay. */
  function note(seconds: number, delay: number, traffic: Partial<Simulation['traffic']> = {}): number {
    for (const end = now + seconds * 1_000; now < end; now += SAMPLE_MS)
      limit.note(now, delay, { calls: 500, served: 0, rejected: 0, ...traffic });
    return limit.current;
  }

  beforeEach(() => {
    now = 5_000;
    limit = new LoadLimit(OPTIONS);
    note(10, 0);
  });

  it('stays at the ceiling while the loop is late by less than is tolerated', () => {
    expect(note(60, 1_000)).toBe(1_000);
  });

  it('stays there for the first ten seconds, however late the loop is', () => {
    limit = new LoadLimit(OPTIONS);
    note(60, 5_000, { calls: 0 });
    expect(note(10, 5_000)).toBe(1_000);
    expect(note(2.9, 5_000)).toBe(1_000);
    expect(note(0.2, 5_000)).toBe(250);
  });

  it('falls below the calls in flight after three seconds of uninterrupted lateness', () => {
    note(2.9, 1_001);
    note(0.1, 0);
    expect(note(2.9, 1_001)).toBe(1_000);
    expect(note(0.2, 1_001)).toBe(250);
  });

  it('does not fall for a single long task', () => {
    now += 8_000;
    expect(note(0.02, 8_000)).toBe(1_000);
    expect(note(5, 0)).toBe(1_000);
  });

  it('falls further each second, never below its floor', () => {
    expect(note(4.1, 1_001)).toBe(125);
    expect(note(60, 1_001)).toBe(4);
  });

  it('rises slowly while calls are rejected, and is lifted a second after the last one', () => {
    note(3.1, 1_001);
    let rejected = 0;
    for (let step = 0; step < 10; step++) note(0.1, 0, { rejected: ++rejected });
    expect(limit.current).toBeGreaterThan(260);
    expect(limit.current).toBeLessThan(300);
    note(0.8, 0, { rejected });
    expect(limit.current).toBeLessThan(310);
    expect(note(0.2, 0, { rejected })).toBe(1_000);
  });

  it('ignores the loop without a tolerated delay', () => {
    limit = new LoadLimit({ ...OPTIONS, toleratedDelay: 0 });
    expect(note(60, 9_000)).toBe(1_000);
  });

  it('keeps a process busy under three times its load, with calls that are little later than tolerated', () => {
    const process = new Simulation(new LoadLimit(OPTIONS), 100);
    process.run(30, 300);
    const { served } = process.traffic;
    expect(process.rejectedIn(() => process.run(30, 300))).toBeGreaterThan(5_000);
    expect(process.longestDelay).toBeLessThan(1_250);
    expect(process.traffic.served - served).toBeGreaterThanOrEqual(2_990);

    // Once it can serve what arrives, it rejects nothing, and a second later the limit is back.
    expect(process.rejectedIn(() => process.run(1.1, 50))).toBe(0);
    expect(process.limit.current).toBe(1_000);
  });

  it('rejects nothing where many wait for less than is tolerated', () => {
    const process = new Simulation(new LoadLimit(OPTIONS), 1_000);
    process.run(1, 1_900);
    expect(process.rejectedIn(() => process.run(60, 1_000))).toBe(0);
    expect(process.longestDelay).toBeGreaterThan(800);
  });
});
