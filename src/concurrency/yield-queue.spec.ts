// The yield queue grants one turn in several iterations of the event loop, in a fair order.
import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextRound } from 'node:timers/promises';
import { YieldQueue } from './yield-queue.js';

describe('the yield queue', () => {
  it('grants one turn at a time, with some iterations of the event loop between two', async () => {
    const queue = new YieldQueue();
    const done: string[] = [];
    const work = async (name: string): Promise<void> => {
      await queue.enter('account');
      done.push(name);
    };
    const all = Promise.all([work('a'), work('b'), work('c')]);
    const counts: number[] = [];
    for (let round = 0; round < 10; round++) {
      await nextRound();
      counts.push(done.length);
    }
    expect(counts).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
    await all;
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('reports how long the first waiter has waited', async () => {
    const queue = new YieldQueue();
    expect(queue.delay).toBe(0);
    const taken = queue.enter('account');
    const start = performance.now();
    while (performance.now() - start < 5);
    expect(queue.delay).toBeGreaterThanOrEqual(5);
    await taken;
    expect(queue.delay).toBe(0);
  });

  it('does not report how long a delivery has waited', async () => {
    const queue = new YieldQueue();
    const delivered = queue.enter('account', 'delivery');
    const start = performance.now();
    while (performance.now() - start < 5);
    expect(queue.delay).toBe(0);
    const calledAt = performance.now();
    const called = queue.enter('account');
    while (performance.now() - calledAt < 1);
    const { delay } = queue;
    expect(delay).toBeGreaterThan(0);
    expect(delay).toBeLessThanOrEqual(performance.now() - calledAt);
    await Promise.all([delivered, called]);
  });

  it('leaves iterations to others between two turns of the same caller', async () => {
    const queue = new YieldQueue();
    await queue.enter('account');
    let isTaken = false;
    const taken = queue.enter('account').then(() => (isTaken = true));
    for (let round = 0; round < 3; round++) await nextRound();
    expect(isTaken).toBe(false);
    await taken;
  });

  it('alternates between accounts, however many turns one of them wants', async () => {
    const queue = new YieldQueue();
    const done: string[] = [];
    const work = async (account: string, times: number): Promise<void> => {
      for (let time = 0; time < times; time++) {
        await queue.enter(account);
        done.push(account);
      }
    };
    const many = Array.from({ length: 20 }, () => work('many', 2));
    await Promise.all([...many, work('one', 3), work('other', 3)]);
    expect(done.lastIndexOf('one')).toBeLessThan(12);
    expect(done.lastIndexOf('other')).toBeLessThan(12);
    expect(done.filter((account) => account === 'many')).toHaveLength(40);
  });

  it('grants turns again after the queue was empty', async () => {
    const queue = new YieldQueue();
    await queue.enter('account');
    await queue.enter('account');
    await Promise.all([queue.enter('account'), queue.enter('account')]);
  });
});

describe('work in pieces', () => {
  function* pieces(count: number, duration: number): Generator<undefined, string> {
    for (let piece = 0; piece < count; piece++) {
      const end = performance.now() + duration;
      while (performance.now() < end);
      yield;
    }
    return 'done';
  }

  it('yields whenever its time slice is used up, also to other work', async () => {
    const queue = new YieldQueue();
    const order: string[] = [];
    const run = async (name: string, count: number): Promise<string> => {
      const result = await queue.begin(name).run(pieces(count, 3));
      order.push(name);
      return result;
    };
    const all = Promise.all([run('long', 40), run('short', 4)]);
    let rounds = 0;
    for (; order.length < 2; rounds++) await nextRound();
    // At most two pieces of 3 ms for each of its turns.
    expect(rounds).toBeGreaterThanOrEqual(20);
    expect(order).toEqual(['short', 'long']);
    expect(await all).toEqual(['done', 'done']);
  });

  it('shares one time slice with work that begins in the same iteration', async () => {
    const queue = new YieldQueue();
    const first = queue.begin('one');
    while (!first.isDue);
    expect(queue.begin('other').isDue).toBe(true);
    await nextRound();
    expect(queue.begin('other').isDue).toBe(false);
  });

  it('measures its own processor time, without that of others', async () => {
    const work = new YieldQueue().begin('account');
    await work.run(pieces(4, 6));
    expect(work.busyTime).toBeGreaterThanOrEqual(24);
  });
});
