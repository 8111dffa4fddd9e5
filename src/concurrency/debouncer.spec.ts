// The debouncer runs what arrives together in one go, and repeats what has failed.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Debouncer } from './debouncer.js';

describe('the debouncer', () => {
  let done: string[][];
  let failures: number;
  let debouncer: Debouncer;
  beforeEach(() => {
    jest.useFakeTimers();
    done = [];
    failures = 0;
    debouncer = new Debouncer(100, async (items) => {
      await Promise.resolve();
      if (failures-- > 0) throw new Error('not now');
      done.push([...items]);
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('processes each distinct item of an interval once', async () => {
    debouncer.add('a');
    debouncer.add('b');
    debouncer.add('a');
    await jest.advanceTimersByTimeAsync(99);
    expect(done).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(done).toEqual([['a', 'b']]);
    debouncer.add('a');
    await jest.advanceTimersByTimeAsync(100);
    expect(done).toEqual([['a', 'b'], ['a']]);
  });

  it('runs one batch at a time, however long it takes', async () => {
    const ends: (() => void)[] = [];
    const begun: string[][] = [];
    const slow = new Debouncer(100, async (items) => {
      begun.push([...items]);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
    slow.add('a');
    await jest.advanceTimersByTimeAsync(100);
    slow.add('b');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(begun).toEqual([['a']]);
    ends[0]?.();
    await jest.advanceTimersByTimeAsync(100);
    expect(begun).toEqual([['a'], ['b']]);
  });

  it('retries failed items together with those that arrived since', async () => {
    failures = 1;
    debouncer.add('a');
    await jest.advanceTimersByTimeAsync(100);
    debouncer.add('b');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual([['a', 'b']]);
  });
});
