// When the work of a cohort is done, and what becomes of it when some of it fails.
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

  it('does what came in one turn in one go, in order, after the turn', () => {
    const batch = batchOf((item) => done.push(item));
    batch.add('a');
    batch.add('b');
    expect(done).toEqual([]);
    expect(scheduled).toHaveLength(1);
    endTick();
    expect(done).toEqual(['a', 'b']);
    expect(scheduled).toHaveLength(0);
  });

  it('leaves what its own work adds to the next turn', () => {
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

  it('does the rest in the next turn when the work of one throws', () => {
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
