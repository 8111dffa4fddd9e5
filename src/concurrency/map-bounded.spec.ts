// A bounded map processes every item once, within its limit, and stops at the first failure.
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import { mapBounded } from './map-bounded.js';

describe('mapBounded', () => {
  it('processes every item once, and never more than the limit at a time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(3), { maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        async (ticks, limit) => {
          const done: number[] = [];
          let active = 0;
          let most = 0;
          await mapBounded([...ticks.keys()], limit, async (index) => {
            most = Math.max(most, ++active);
            for (let tick = 0; tick <= (ticks[index] ?? 0); tick++) await yieldToOthers();
            active--;
            done.push(index);
          });
          expect(done.toSorted((one, other) => one - other)).toEqual([...ticks.keys()]);
          expect(most).toBe(Math.min(limit, ticks.length));
        },
      ),
    );
  });

  it('rejects with the first failure after running items have ended, and starts no more', async () => {
    const started: number[] = [];
    let active = 0;
    const work = async (item: number): Promise<void> => {
      started.push(item);
      active++;
      try {
        if (item === 2) throw new Error('two failed');
        await yieldToOthers();
        await yieldToOthers();
      } finally {
        active--;
      }
    };
    await expect(mapBounded([0, 1, 2, 3, 4, 5, 6], 3, work)).rejects.toThrow('two failed');
    expect(started).toEqual([0, 1, 2]);
    expect(active).toBe(0);
  });

  it('reports a failure at once, and rejects with the first one in time when no item is running', async () => {
    const seen: unknown[] = [];
    let fail = (): void => undefined;
    const failed = new Promise<void>((resolve) => (fail = resolve));
    const isOver = { first: false };
    const map = mapBounded(
      [0, 1],
      2,
      async (item) => {
        if (item === 1) throw new Error('one failed');
        await failed;
        isOver.first = true;
        throw new Error('zero failed');
      },
      (failure) => {
        seen.push((failure as Error).message);
        fail();
      },
    );
    await expect(map).rejects.toThrow('one failed');
    expect(isOver.first).toBe(true);
    expect(seen).toEqual(['one failed', 'zero failed']);
  });

  it('resolves at once for an empty list', async () => {
    await expect(mapBounded([], 8, () => Promise.reject(new Error('never')))).resolves.toBeUndefined();
  });
});
