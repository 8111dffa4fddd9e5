// When the work of a tick batch runs, and how a failing item affects the others.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { TickBatch } from './tick-batch.js';

describe('the tick batch', () => {
  let done: string[];
  let scheduled: (() => void)[];

  beforeEach(() => {
    done = [];
    scheduled = [];
  });

  const batchOf = (work: (item: string) => void): TickBatch<string> =>
    new TickBatch(work, (run) => scheduled.push(run));
  const endTick = (): void => {
    for (const run of scheduled.splice(0)) run();
  };

  it('processes the items of one turn in one go, in order, after the turn', () => {
    const batch = batchOf((item) => done.push(item));
    batch.add('a');
    batch.add('b');
    expect(done).toEqual([]);
    expect(scheduled).toHaveLength(1);
    endTick();
    expect(done).toEqual(['a', 'b']);
    expect(scheduled).toHaveLength(0);
  });

  it('defers items that its own work adds to the next turn', () => {
    const batch = batchOf((item) => {
      done.push(item);
      if (item === 'a') batch.add('b');
    });
    batch.add('a');
    endTick();
    expect(done).toEqual(['a']);
    endTick();
    expect(done).toEqual(['a', 'b']);
  });

  it('processes the rest in the next turn when one item throws', () => {
    const batch = batchOf((item) => {
      if (item === 'broken') throw new Error('broken');
      done.push(item);
    });
    for (const item of ['a', 'broken', 'b']) batch.add(item);
    expect(endTick).toThrow('broken');
    expect(done).toEqual(['a']);
    endTick();
    expect(done).toEqual(['a', 'b']);
  });

  it('waits for the turn of the event loop to end', async () => {
    const batch = new TickBatch<string>((item) => done.push(item));
    batch.add('a');
    await Promise.resolve();
    expect(done).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual(['a']);
  });
});
