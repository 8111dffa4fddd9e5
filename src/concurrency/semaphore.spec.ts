// The order in which permits are granted.
import { describe, expect, it } from '@jest/globals';
import { PermitTimeout, Semaphore } from './semaphore.js';
import type { Permit } from './semaphore.js';

/** Lets acquisitions that were granted resolve. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Records the keys that acquire permits, in order. */
class Grants {
  readonly keys: string[] = [];
  readonly permits: Permit[] = [];

  constructor(private readonly semaphore: Semaphore) {}

  async request(key: string, signal?: AbortSignal): Promise<void> {
    const permit = await this.semaphore.acquire(key, { signal });
    this.keys.push(key);
    this.permits.push(permit);
  }

  /** Releases the permit that was granted first and is still held. */
  async releaseNext(): Promise<void> {
    this.permits.shift()?.release();
    await settle();
  }
}

function acquireAll(semaphore: Semaphore, key: string, count: number): Permit[] {
  return Array.from({ length: count }, () => {
    const permit = semaphore.tryAcquire(key);
    if (!permit) throw new Error(`${key} got no permit`);
    return permit;
  });
}

describe('Semaphore, with permits of weight 1', () => {
  it('grants every permit to one key while no other key wants one', () => {
    const semaphore = new Semaphore({ permits: 3 });
    acquireAll(semaphore, 'a', 3);
    expect(semaphore.available).toBe(0);
    expect(semaphore.heldBy('a')).toBe(3);
    expect(semaphore.tryAcquire('a')).toBeNull();
    expect(semaphore.tryAcquire('b')).toBeNull();
  });

  it('grants the next freed permit to a key that holds none, ahead of the queue of a key that holds all', async () => {
    const semaphore = new Semaphore({ permits: 4 });
    const grants = new Grants(semaphore);
    grants.permits.push(...acquireAll(semaphore, 'a', 4));
    for (let count = 0; count < 100; count++) void grants.request('a');
    void grants.request('b');
    await grants.releaseNext();
    expect(grants.keys).toEqual(['b']);
    expect(semaphore.waiting).toBe(100);
  });

  it('shares permits equally between keys that all want more than there are', async () => {
    const semaphore = new Semaphore({ permits: 6 });
    const grants = new Grants(semaphore);
    grants.permits.push(...acquireAll(semaphore, 'a', 6));
    for (const key of ['a', 'b', 'c']) for (let count = 0; count < 50; count++) void grants.request(key);
    for (let count = 0; count < 30; count++) await grants.releaseNext();
    expect(['a', 'b', 'c'].map((key) => semaphore.heldBy(key))).toEqual([2, 2, 2]);
    // With equal shares the turns rotate.
    expect(grants.keys.slice(-6).toSorted((one, other) => one.localeCompare(other))).toEqual([
      'a',
      'a',
      'b',
      'b',
      'c',
      'c',
    ]);
  });

  it('serves keys that hold as much in the order in which they came', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const grants = new Grants(semaphore);
    grants.permits.push(...acquireAll(semaphore, 'a', 1));
    for (const key of ['d', 'c', 'b', 'c', 'd']) void grants.request(key);
    for (let count = 0; count < 5; count++) await grants.releaseNext();
    expect(grants.keys).toEqual(['d', 'c', 'b', 'd', 'c']);
  });

  it('keeps reserved permits for keys that hold none', async () => {
    const semaphore = new Semaphore({ permits: 4, reserved: 1 });
    const grants = new Grants(semaphore);
    const [first] = acquireAll(semaphore, 'a', 3);
    expect(semaphore.tryAcquire('a')).toBeNull();
    void grants.request('a');
    acquireAll(semaphore, 'b', 1);
    expect(semaphore.tryAcquire('c')).toBeNull();
    void grants.request('c');
    first?.release();
    await settle();
    expect(grants.keys).toEqual(['c']);
  });

  it('lets a key take reserved permits while as many remain as it holds', async () => {
    const semaphore = new Semaphore({ permits: 20, reserved: 8 });
    const grants = new Grants(semaphore);
    acquireAll(semaphore, 'a', 12);
    void grants.request('a');
    acquireAll(semaphore, 'b', 4);
    expect(semaphore.tryAcquire('b')).toBeNull();
    acquireAll(semaphore, 'c', 2);
    expect(semaphore.tryAcquire('c')).toBeNull();
    acquireAll(semaphore, 'd', 1);
    expect(semaphore.tryAcquire('d')).toBeNull();
    acquireAll(semaphore, 'e', 1);
    expect(semaphore.available).toBe(0);
    await settle();
    expect(grants.keys).toEqual([]);
  });

  it('lets a key that released its last permit take a reserved one', async () => {
    const semaphore = new Semaphore({ permits: 3, reserved: 2 });
    const grants = new Grants(semaphore);
    acquireAll(semaphore, 'a', 1);
    const [permit] = acquireAll(semaphore, 'b', 1);
    void grants.request('b');
    await settle();
    expect(grants.keys).toEqual([]);
    permit?.release();
    await settle();
    expect(grants.keys).toEqual(['b']);
  });

  it('counts the second release of a permit as none', () => {
    const semaphore = new Semaphore({ permits: 1 });
    const [permit] = acquireAll(semaphore, 'a', 1);
    permit?.release();
    permit?.release();
    expect(semaphore.available).toBe(1);
  });

  it('takes no permit for a request that was aborted, while it waited or before', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const grants = new Grants(semaphore);
    grants.permits.push(...acquireAll(semaphore, 'a', 1));
    const controller = new AbortController();
    const aborted = grants.request('b', controller.signal);
    const other = grants.request('c', controller.signal);
    void grants.request('d');
    controller.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    await expect(other).rejects.toThrow('gone');
    await expect(grants.request('e', controller.signal)).rejects.toThrow('gone');
    expect(semaphore.waiting).toBe(1);
    await grants.releaseNext();
    expect(grants.keys).toEqual(['d']);
    await grants.releaseNext();
    expect(semaphore.available).toBe(1);
  });

  it('has no effect on a granted permit when the signal is aborted later', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const grants = new Grants(semaphore);
    grants.permits.push(...acquireAll(semaphore, 'a', 1));
    const controller = new AbortController();
    void grants.request('b', controller.signal);
    await grants.releaseNext();
    controller.abort();
    expect(semaphore.heldBy('b')).toBe(1);
    await grants.releaseNext();
    expect(semaphore.available).toBe(1);
  });

  it('forgets keys that neither hold nor wait', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const grants = new Grants(semaphore);
    for (let key = 0; key < 1_000; key++) {
      const permit = semaphore.tryAcquire(`key ${key}`);
      const controller = new AbortController();
      const waiting = grants.request(`waiting ${key}`, controller.signal);
      controller.abort(new Error('gone'));
      await expect(waiting).rejects.toThrow('gone');
      permit?.release();
    }
    expect(semaphore.keyCount).toBe(0);
    expect(semaphore.available).toBe(1);
  });

  it('rejects limits that would grant no permit', () => {
    expect(() => new Semaphore({ permits: 0 })).toThrow(RangeError);
    expect(() => new Semaphore({ permits: 2, reserved: 2 })).toThrow(RangeError);
  });
});

describe('Semaphore, with members and deadlines', () => {
  it('serves the member of a key that holds the fewest permits first', async () => {
    const semaphore = new Semaphore({ permits: 2 });
    const [large, small] = [{}, {}];
    const permit = semaphore.tryAcquire('a', { member: large });
    semaphore.tryAcquire('a', { member: large });
    const served: object[] = [];
    for (const member of [large, large, small])
      void semaphore.acquire('a', { member }).then(() => served.push(member));
    expect(semaphore.waitingOf('a')).toBe(3);
    permit?.release();
    await settle();
    expect(served).toEqual([small]);
    expect(semaphore.waitingOf('a')).toBe(2);
    expect(semaphore.waitingOf('b')).toBe(0);
  });

  it('rejects a request whose deadline comes first', async () => {
    const semaphore = new Semaphore({ permits: 1 });
    const permit = semaphore.tryAcquire('a');
    await expect(semaphore.acquire('b', { deadline: performance.now() - 1 })).rejects.toThrow(PermitTimeout);
    permit?.release();
    expect(semaphore.available).toBe(1);
    expect(semaphore.keyCount).toBe(0);
  });
});
