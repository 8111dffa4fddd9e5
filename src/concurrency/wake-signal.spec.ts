// The events that end a wait.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WakeSignal } from './wake-signal.js';

/** A minute; no test waits for it. */
const LONG = 60_000;

describe('WakeSignal', () => {
  let signal: WakeSignal;
  beforeEach(() => {
    jest.useFakeTimers();
    signal = new WakeSignal();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Returns whether the wait has ended before any time passes. */
  async function hasEnded(wait: Promise<unknown>): Promise<boolean> {
    let ended = false;
    void wait.then(() => (ended = true));
    await jest.advanceTimersByTimeAsync(0);
    return ended;
  }

  it('ends a wait for news, and no other, when news arrive', async () => {
    const sleep = signal.sleep(LONG);
    signal.wake();
    expect(await hasEnded(sleep)).toBe(false);
    await jest.advanceTimersByTimeAsync(LONG);
    await sleep;
    signal.reset();
    const wait = signal.untilWoken(LONG);
    signal.wake();
    expect(await wait).toBe(true);
  });

  it('ends any wait when it is interrupted', async () => {
    const sleep = signal.sleep(LONG);
    signal.interrupt();
    expect(await hasEnded(sleep)).toBe(true);
    expect(signal.isWoken).toBe(true);
  });

  it('does not wait for news that came before, until it is reset', async () => {
    signal.wake();
    expect(await signal.untilWoken(LONG)).toBe(true);
    signal.reset();
    const wait = signal.untilWoken(LONG);
    expect(await hasEnded(wait)).toBe(false);
    await jest.advanceTimersByTimeAsync(LONG);
    expect(await wait).toBe(false);
  });

  it('ends the wait and begins no other when it stops, news or none', async () => {
    const wait = signal.untilWoken(LONG);
    signal.stop();
    expect(await wait).toBe(false);
    signal.wake();
    expect(await signal.untilWoken(LONG)).toBe(false);
    expect(await hasEnded(signal.sleep(LONG))).toBe(true);
    expect(signal.isStopped).toBe(true);
  });
});
