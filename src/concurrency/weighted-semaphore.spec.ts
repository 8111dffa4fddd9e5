// Who waits for bytes, and who does not.
import { describe, expect, it } from '@jest/globals';
import { WeightedSemaphore } from './weighted-semaphore.js';
import type { Permit } from './weighted-semaphore.js';

/** Which of these takes are served, once nothing is left to be done at once. */
async function servedOf(takes: readonly (Permit | Promise<Permit>)[]): Promise<readonly boolean[]> {
  const served = takes.map(() => false);
  for (const [index, take] of takes.entries()) void Promise.resolve(take).then(() => (served[index] = true));
  await new Promise((resolve) => setImmediate(resolve));
  return served;
}

describe('a budget of bytes', () => {
  it('lets those who need more than is left wait, and those who need nothing pass', async () => {
    const budget = new WeightedSemaphore(10);
    const permit = await budget.acquire('first', 8);
    const takes = [budget.acquire('one', 5), budget.acquire('two', 1), budget.acquire('three', 0)];
    expect(await servedOf(takes)).toEqual([false, false, true]);
    permit.release();
    expect(await servedOf(takes)).toEqual([true, true, true]);
  });

  it('counts more than all of it as all of it, and what is given back once', async () => {
    const budget = new WeightedSemaphore(10);
    const permit = await budget.acquire('one', 1_000);
    permit.release();
    permit.release();
    expect(await servedOf([budget.acquire('one', 10), budget.acquire('two', 1)])).toEqual([true, false]);
  });

  it('serves others with what is not needed after all', async () => {
    const budget = new WeightedSemaphore(10);
    const permit = await budget.acquire('one', 10);
    const other = budget.acquire('two', 6);
    permit.shrinkTo(5);
    expect(await servedOf([other])).toEqual([false]);
    permit.shrinkTo(4);
    permit.shrinkTo(9);
    expect(await servedOf([other])).toEqual([true]);
  });

  it('never gives one owner more than it leaves to the others', async () => {
    const budget = new WeightedSemaphore(120);
    const takes = Array.from({ length: 100 }, () => budget.acquire('greedy', 10));
    expect((await servedOf(takes)).filter(Boolean)).toHaveLength(4);
    expect(budget.acquire('modest', 30)).not.toBeInstanceOf(Promise);
  });

  it('leaves room for one more, however many owners have taken what they get', async () => {
    const budget = new WeightedSemaphore(1_000);
    for (let owner = 0; owner < 15; owner++)
      for (let take = 0; take < 75; take++) void budget.acquire(`${owner}`, 5);
    expect(budget.acquire('modest', 5)).not.toBeInstanceOf(Promise);
  });

  it('serves the owner that holds least first, each in order', async () => {
    const budget = new WeightedSemaphore(10);
    const permit = await budget.acquire('first', 6);
    await budget.acquire('one', 2);
    const takes = [budget.acquire('one', 5), budget.acquire('two', 5), budget.acquire('two', 1)];
    expect(await servedOf(takes)).toEqual([false, false, false]);
    permit.release();
    expect(await servedOf(takes)).toEqual([false, true, false]);
  });

  it('keeps no large request waiting for good: small ones that come later stay behind it', async () => {
    const budget = new WeightedSemaphore(10);
    const permit = await budget.acquire('first', 2);
    const large = budget.acquire('one', 10);
    const small = ['two', 'three'].map((owner) => budget.acquire(owner, 1));
    expect(await servedOf([large, ...small])).toEqual([false, false, false]);
    permit.release();
    expect(await servedOf([large, ...small])).toEqual([true, false, false]);
    (await large).release();
    expect(await servedOf(small)).toEqual([true, true]);
  });
});
