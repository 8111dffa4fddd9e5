import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { withTimeout } from './with-timeout.js';

const never = (): Promise<never> => new Promise(() => undefined);

describe('withTimeout', () => {
  beforeEach(() => {
    // Timers alone are counted: the rest of the process schedules ticks as well.
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('ends as the work does, and keeps no timer', async () => {
    const onTimeout = jest.fn();
    expect(await withTimeout(Promise.resolve('done'), 50, onTimeout)).toBe('done');
    const failure = new Error('failed');
    await expect(withTimeout(Promise.reject(failure), 50, onTimeout)).rejects.toBe(failure);
    expect(jest.getTimerCount()).toBe(0);
    expect(onTimeout).not.toHaveBeenCalled();
  });

  it('waits for the work until the time is over', async () => {
    const onEnd = jest.fn();
    const waiting = withTimeout(never(), 50, () => 'late').then(onEnd);
    await jest.advanceTimersByTimeAsync(49);
    expect(onEnd).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    await waiting;
    expect(onEnd).toHaveBeenCalledWith('late');
  });

  it('rejects with the error of the time-out', async () => {
    const late = new Error('late');
    const waiting = withTimeout(never(), 0, () => {
      throw late;
    });
    const rejected = expect(waiting).rejects.toBe(late);
    await jest.advanceTimersByTimeAsync(0);
    await rejected;
  });

  it('ignores a failure of the work after the time-out', async () => {
    let fail = (_error: Error): void => undefined;
    const work = new Promise<never>((_resolve, reject) => (fail = reject));
    const waiting = withTimeout(work, 0, () => null);
    await jest.advanceTimersByTimeAsync(0);
    expect(await waiting).toBeNull();
    const unhandled = jest.fn();
    process.once('unhandledRejection', unhandled);
    fail(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});
