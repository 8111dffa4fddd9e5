// When the work of a cohort is done, and what becomes of it when some of it fails.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { TickBatch } from './tick-batch.js';

describe('Cohort', () => {
  let done: string[];
  let scheduled: (() => void)[];

  beforeEach(() => {
    done = [];
    scheduled = [];
  });

  const cohortOf = (work: (item: string) => void): TickBatch<string> =>
    new TickBatch(work, (run) => scheduled.push(run));
  const endTurn = (): void => {
    for (const run of scheduled.splice(0)) run();
  };

  it('does what came in one turn in one go, in order, after the turn', () => {
    const cohort = cohortOf((item) => done.push(item));
    cohort.add('a');
    cohort.add('b');
    expect(done).toEqual([]);
    expect(scheduled).toHaveLength(1);
    endTurn();
    expect(done).toEqual(['a', 'b']);
    expect(scheduled).toHaveLength(0);
  });

  it('leaves what its own work adds to the next turn', () => {
    const cohort = cohortOf((item) => {
      done.push(item);
      if (item === 'a') cohort.add('b');
    });
    cohort.add('a');
    endTurn();
    expect(done).toEqual(['a']);
    endTurn();
    expect(done).toEqual(['a', 'b']);
  });

  it('does the rest in the next turn when the work of one throws', () => {
    const cohort = cohortOf((item) => {
      if (item === 'broken') throw new Error('broken');
      done.push(item);
    });
    for (const item of ['a', 'broken', 'b']) cohort.add(item);
    expect(endTurn).toThrow('broken');
    expect(done).toEqual(['a']);
    endTurn();
    expect(done).toEqual(['a', 'b']);
  });

  it('waits for the turn of the event loop to end', async () => {
    const cohort = new TickBatch<string>((item) => done.push(item));
    cohort.add('a');
    await Promise.resolve();
    expect(done).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual(['a']);
  });
});
