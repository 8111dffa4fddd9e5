import { describe, expect, it } from '@jest/globals';
import { AppError } from '../domain/errors.js';
import { BatchWriter } from './batch-writer.js';
import { RefusedValue } from './database-errors.js';

const LIMITS = { maxBatch: 3, maxWaiting: 5 };

function recorder() {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const write = async (items: readonly number[]): Promise<void> => {
    batches.push([...items]);
    await new Promise<void>((resolve) => gates.push(resolve));
  };
  return { batches, write, open: () => gates.shift()?.() };
}

describe('the batch writer', () => {
  it('writes the first item at once and what comes meanwhile together, in order, up to the batch limit', async () => {
    const { batches, write, open } = recorder();
    const writer = new BatchWriter(write, LIMITS);
    const written = [1, 2, 3, 4, 5].map((item) => writer.add(item));
    for (let round = 0; round < 3; round++) {
      open();
      await new Promise(setImmediate);
    }
    await Promise.all(written);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  });

  it('refuses an item at once when too many wait', async () => {
    const { write, open } = recorder();
    const writer = new BatchWriter(write, LIMITS);
    const written = [0, 1, 2, 3, 4, 5].map((item) => writer.add(item));
    await expect(writer.add(6)).rejects.toBeInstanceOf(AppError);
    for (let round = 0; round < 3; round++) {
      open();
      await new Promise(setImmediate);
    }
    await Promise.all(written);
  });

  it('fails only the item that the database refuses', async () => {
    const kept: number[] = [];
    const writer = new BatchWriter<number>(
      async (items) => {
        await Promise.resolve();
        if (items.includes(3)) throw new RefusedValue('no');
        kept.push(...items);
      },
      { maxBatch: 10, maxWaiting: 10 },
    );
    const outcomes = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => writer.add(item)));
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(kept).toEqual([1, 2, 4, 5]);
  });

  it('goes on after a write that failed as a whole, and drains', async () => {
    let attempts = 0;
    const writer = new BatchWriter<number>(async () => {
      await Promise.resolve();
      if (++attempts === 1) throw new Error('away');
    }, LIMITS);
    await expect(writer.add(1)).rejects.toThrow('away');
    const second = writer.add(2);
    await writer.drain();
    await expect(second).resolves.toBeUndefined();
  });
});
