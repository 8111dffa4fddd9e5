// Requests for more than one permit at once, as for bytes.
import { describe, expect, it } from '@jest/globals';
import { Cancellation } from './cancellation.js';
import { Semaphore } from './semaphore.js';
import type { Permit } from './semaphore.js';

/** Which of these requests are served, once all pending callbacks have run. */
async function servedOf(requests: readonly Promise<Permit>[]): Promise<readonly boolean[]> {
  const served = requests.map(() => false);
  for (const [index, request] of requests.entries()) void request.then(() => (served[index] = true));
  await new Promise((resolve) => setImmediate(resolve));
  return served;
}

/** A quarter is reserved, and a key leaves the others as much as it holds. */
const bytesOf = (permits: number): Semaphore =>
  new Semaphore({ permits, reserved: permits / 4, leavesHalf: true });

describe('Semaphore, with weighted permits', () => {
  it('queues a request for more than is available, and grants weight 0 at once', async () => {
    const semaphore = bytesOf(10);
    const permit = await semaphore.acquire('first', { weight: 8 });
    const requests = [
      semaphore.acquire('one', { weight: 5 }),
      semaphore.acquire('two', { weight: 1 }),
      semaphore.acquire('three', { weight: 0 }),
    ];
    expect(await servedOf(requests)).toEqual([false, false, true]);
    permit.release();
    expect(await servedOf(requests)).toEqual([true, true, true]);
  });

  it('clamps a weight to all permits, and counts a release once', async () => {
    const semaphore = bytesOf(10);
    const permit = await semaphore.acquire('one', { weight: 1_000 });
    permit.release();
    permit.release();
    expect(
      await servedOf([semaphore.acquire('one', { weight: 10 }), semaphore.acquire('two', { weight: 1 })]),
    ).toEqual([true, false]);
  });

  it('serves waiters when a permit shrinks', async () => {
    const semaphore = bytesOf(10);
    const permit = await semaphore.acquire('one', { weight: 10 });
    const other = semaphore.acquire('two', { weight: 6 });
    permit.shrinkTo(5);
    expect(await servedOf([other])).toEqual([false]);
    permit.shrinkTo(4);
    permit.shrinkTo(9);
    expect(await servedOf([other])).toEqual([true]);
  });

  it('grants a key no more than it leaves to the others', async () => {
    const semaphore = bytesOf(120);
    const requests = Array.from({ length: 100 }, () => semaphore.acquire('greedy', { weight: 10 }));
    expect((await servedOf(requests)).filter(Boolean)).toHaveLength(4);
    expect(semaphore.tryAcquire('modest', { weight: 30 })).not.toBeNull();
  });

  it('leaves room for one more key, however many hold all that they get', async () => {
    const semaphore = bytesOf(1_000);
    for (let key = 0; key < 15; key++)
      for (let request = 0; request < 75; request++) void semaphore.acquire(`${key}`, { weight: 5 });
    expect(semaphore.tryAcquire('modest', { weight: 5 })).not.toBeNull();
  });

  it('serves the key that holds the least first, each in order', async () => {
    const semaphore = bytesOf(10);
    const permit = await semaphore.acquire('first', { weight: 6 });
    await semaphore.acquire('one', { weight: 2 });
    const requests = [
      semaphore.acquire('one', { weight: 5 }),
      semaphore.acquire('two', { weight: 5 }),
      semaphore.acquire('two', { weight: 1 }),
    ];
    expect(await servedOf(requests)).toEqual([false, false, false]);
    permit.release();
    expect(await servedOf(requests)).toEqual([false, true, false]);
  });

  it('keeps small requests that come later behind a large one', async () => {
    const semaphore = bytesOf(10);
    const permit = await semaphore.acquire('first', { weight: 2 });
    const large = semaphore.acquire('one', { weight: 10 });
    const small = ['two', 'three'].map((key) => semaphore.acquire(key, { weight: 1 }));
    expect(await servedOf([large, ...small])).toEqual([false, false, false]);
    permit.release();
    expect(await servedOf([large, ...small])).toEqual([true, false, false]);
    (await large).release();
    expect(await servedOf(small)).toEqual([true, true]);
  });

  it('serves the waiters behind a large one that is aborted', async () => {
    const semaphore = bytesOf(10);
    await semaphore.acquire('first', { weight: 2 });
    const cancellation = new Cancellation();
    const large = semaphore.acquire('one', { weight: 10, signal: cancellation });
    const small = semaphore.acquire('two', { weight: 1 });
    cancellation.abort();
    await expect(large).rejects.toBe(cancellation.reason);
    expect(await servedOf([small])).toEqual([true]);
  });
});
