import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SynchronizedClock } from './clock.js';

const NOON = new Date('2026-11-18T12:00:00.000Z');

/** performance.now(). */
let elapsed: number;
let clock: SynchronizedClock;
beforeEach(() => {
  elapsed = 5_000;
  jest.useFakeTimers({ now: new Date('2030-01-01T00:00:00.000Z') });
  jest.spyOn(performance, 'now').mockImplementation(() => elapsed);
  clock = new SynchronizedClock();
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** The other clock shows `moment`; its answer takes `takes` milliseconds. */
function read(moment: Date, takes = 0): void {
  const sentAt = elapsed;
  elapsed += takes;
  clock.synchronize(moment, sentAt);
}

const after = (milliseconds: number): Date => new Date(NOON.getTime() + milliseconds);

describe('a synchronized clock', () => {
  it("shows the machine's time until it has read the other clock", () => {
    expect(clock.now()).toEqual(new Date('2030-01-01T00:00:00.000Z'));
  });

  it("continues by the monotonic clock when the machine's clock jumps", () => {
    read(NOON);
    jest.setSystemTime(new Date('1999-01-01T00:00:00.000Z'));
    elapsed += 61_000;
    expect(clock.now()).toEqual(after(61_000));
  });

  it('assumes the middle of the time that an answer took', () => {
    read(NOON, 1_000);
    expect(clock.now()).toEqual(after(500));
  });

  it('follows the other clock when it jumps or changes its rate', () => {
    read(NOON);
    read(after(86_400_000));
    expect(clock.now()).toEqual(after(86_400_000));
  });

  it('keeps its time when the transit time explains the difference', () => {
    read(NOON);
    read(NOON, 800);
    expect(clock.now()).toEqual(after(800));
    read(after(1_600));
    expect(clock.now()).toEqual(after(1_600));
  });
});
