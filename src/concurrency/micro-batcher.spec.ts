import { describe, expect, it } from '@jest/globals';
import { MicroBatcher } from './micro-batcher.js';

class FaultOfOneItem extends Error {}

const LIMITS = {
  maxBatch: 3,
  maxInFlight: 1,
  maxWaiting: 5,
  isFaultOfOneItem: (error: unknown) => error instanceof FaultOfOneItem,
  overflow: () => new Error('too many wait'),
};

/** Batches end on command, each with its items as texts. */
function recorder() {
  const batches: number[][] = [];
  const resolvers: (() => void)[] = [];
  const run = async (items: readonly number[]): Promise<string[]> => {
    batches.push([...items]);
    await new Promise<void>((resolve) => resolvers.push(resolve));
    return items.map((item) => `done ${item}`);
  };
  return { batches, run, end: () => resolvers.shift()?.() };
}

/** Resolves when the added items are in flight. */
const tick = (): Promise<void> => new Promise(setImmediate);

/** Resolves when an ended batch is noticed and the next one, which waits for the end of the turn, has started. */
const ticks = (): Promise<void> => tick().then(tick);

describe('the micro-batcher', () => {
  it('batches items of one turn, and items that arrive during a batch, in order, up to the limit', async () => {
    const { batches, run, end } = recorder();
    const batcher = new MicroBatcher(run, LIMITS);
    const early = [1, 2].map((item) => batcher.add(item));
    await tick();
    const late = [3, 4, 5, 6].map((item) => batcher.add(item));
    await tick();
    expect(batches).toEqual([[1, 2]]);
    for (let round = 0; round < 3; round++) {
      end();
      await ticks();
    }
    expect(batches).toEqual([[1, 2], [3, 4, 5], [6]]);
    expect(await Promise.all([...early, ...late])).toEqual([1, 2, 3, 4, 5, 6].map((item) => `done ${item}`));
  });

  it('limits the batches in flight, and continues beside one that hangs', async () => {
    const { batches, run, end } = recorder();
    const batcher = new MicroBatcher(run, { ...LIMITS, maxBatch: 1, maxInFlight: 2, maxWaiting: 9 });
    const added = [1, 2, 3, 4].map((item) => batcher.add(item));
    await tick();
    await tick();
    expect(batches).toEqual([[1], [2]]);
    for (let round = 0; round < 4; round++) {
      end();
      await ticks();
    }
    await Promise.all(added);
  });

  it('batches items of one group, and keeps the order of the others', async () => {
    const { batches, run, end } = recorder();
    const batcher = new MicroBatcher(run, { ...LIMITS, maxWaiting: 9 }, (item) =>
      item % 2 ? 'odd' : 'even',
    );
    const added = [1, 2, 3, 4, 6, 5, 7, 8].map((item) => batcher.add(item));
    await tick();
    for (let round = 0; round < 4; round++) {
      end();
      await ticks();
    }
    expect(batches).toEqual([[1, 3], [2, 4, 6], [5, 7], [8]]);
    expect(await Promise.all(added)).toEqual([1, 2, 3, 4, 6, 5, 7, 8].map((item) => `done ${item}`));
  });

  it('drains all groups', async () => {
    const kept: (readonly number[])[] = [];
    const batcher = new MicroBatcher<number, void>(
      async (items) => {
        await Promise.resolve();
        kept.push(items);
        return [];
      },
      LIMITS,
      String,
    );
    const added = [1, 2, 1].map((item) => batcher.add(item));
    await batcher.drain();
    await Promise.all(added);
    expect(kept).toEqual([[1, 1], [2]]);
  });

  it('rejects an item at once when too many wait', async () => {
    const { run, end } = recorder();
    const batcher = new MicroBatcher(run, LIMITS);
    const added = [1, 2, 3, 4, 5].map((item) => batcher.add(item));
    await expect(batcher.add(6)).rejects.toThrow('too many wait');
    await tick();
    for (let round = 0; round < 2; round++) {
      end();
      await ticks();
    }
    await Promise.all(added);
  });

  it('rejects only the item that is at fault', async () => {
    const fault = new FaultOfOneItem('no');
    const kept: number[] = [];
    const batcher = new MicroBatcher<number, number>(
      async (items) => {
        await Promise.resolve();
        if (items.includes(3)) throw fault;
        kept.push(...items);
        return items;
      },
      { ...LIMITS, maxBatch: 10 },
    );
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batcher.add(item)));
    expect(outcomes).toEqual(
      [1, 2, 3, 4, 5].map((value) =>
        value === 3 ? { status: 'rejected', reason: fault } : { status: 'fulfilled', value },
      ),
    );
    expect(kept).toEqual([1, 2, 4, 5]);
  });

  it('continues after a batch that failed as a whole, and drains', async () => {
    let attempts = 0;
    const batcher = new MicroBatcher<number, void>(async () => {
      await Promise.resolve();
      if (++attempts === 1) throw new Error('away');
      return [];
    }, LIMITS);
    await expect(batcher.add(1)).rejects.toThrow('away');
    const second = batcher.add(2);
    await batcher.drain();
    await expect(second).resolves.toBeUndefined();
    expect(attempts).toBe(2);
  });
});
