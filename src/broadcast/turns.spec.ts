// That there is one turn for each round of the event loop, in the order in which they were asked for.
import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Turns } from './turns.js';

describe('turns', () => {
  it('come one in each round of the event loop, in order', async () => {
    const turns = new Turns();
    const done: string[] = [];
    const work = async (name: string): Promise<void> => {
      await turns.take();
      done.push(name);
    };
    const all = Promise.all([work('a'), work('b'), work('c')]);
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) {
      await nextRound();
      counts.push(done.length);
    }
    expect(counts).toEqual([1, 2, 3]);
    await all;
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('are there again when all have been taken', async () => {
    const turns = new Turns();
    await turns.take();
    await turns.take();
    await Promise.all([turns.take(), turns.take()]);
  });
});
