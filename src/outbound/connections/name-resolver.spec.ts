// Name look-ups use few threads: slow names delay only themselves and their callers.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SystemNameResolver, slotsOf } from './name-resolver.js';

const ADDRESS: LookupAddress = { address: '93.184.216.34', family: 4 };
const SLOTS = { all: 4, slow: 2 };
const UNANSWERED = Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });

/** Every started look-up, in order, and the unfinished ones. */
let begun: string[];
let open: Map<string, (error: Error | null) => void>;
let resolver: SystemNameResolver;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  begun = [];
  open = new Map();
  const lookUp = (host: string): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) => {
      begun.push(host);
      open.set(host, (error) => {
        open.delete(host);
        if (error) reject(error);
        else resolve([ADDRESS]);
      });
    });
  resolver = new SystemNameResolver(SLOTS, lookUp);
});
afterEach(() => {
  jest.useRealTimers();
});

const dead = (count: number): string[] => Array.from({ length: count }, (_nothing, index) => `dead-${index}`);
/** The result of a look-up: its addresses, or the code of its failure. */
const outcomeOf = (host: string, account = 'one'): Promise<unknown> =>
  resolver.resolve(host, account).catch(({ code }: { code?: string }) => code);

async function end(host: string, error: Error | null = null): Promise<void> {
  open.get(host)?.(error);
  await nextTurn();
}

/** Looks all of them up; each fails after ten seconds. */
async function letDie(hosts: readonly string[]): Promise<void> {
  const outcomes = hosts.map((host) => outcomeOf(host));
  await nextTurn();
  while (open.size > 0) {
    jest.advanceTimersByTime(10_000);
    for (const host of open.keys()) open.get(host)?.(UNANSWERED);
    await nextTurn();
  }
  await Promise.all(outcomes);
  begun.length = 0;
}

describe('a name', () => {
  it('shares one look-up between concurrent callers, and is looked up again afterwards', async () => {
    const both = [resolver.resolve('host', 'one'), resolver.resolve('host', 'other')];
    await nextTurn();
    await end('host');
    expect(await Promise.all(both)).toEqual([[ADDRESS], [ADDRESS]]);
    const again = resolver.resolve('host', 'one');
    await nextTurn();
    await end('host');
    expect(await again).toEqual([ADDRESS]);
    expect(begun).toEqual(['host', 'host']);
  });

  it('is looked up again at once when it does not exist', async () => {
    const first = outcomeOf('host');
    await nextTurn();
    await end('host', Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
    expect(await first).toBe('ENOTFOUND');
    void outcomeOf('host');
    await nextTurn();
    expect(begun).toEqual(['host', 'host']);
  });

  it('fails at once after a time-out for three times its duration, and is looked up again then', async () => {
    await letDie(['dead']);
    jest.advanceTimersByTime(29_999);
    expect(await outcomeOf('dead')).toBe('EAI_AGAIN');
    expect(begun).toEqual([]);
    jest.advanceTimersByTime(1);
    const revived = outcomeOf('dead');
    await nextTurn();
    await end('dead');
    expect(await revived).toEqual([ADDRESS]);
    // From then on it counts as a quick name.
    void resolver.resolve('dead', 'one');
    await nextTurn();
    expect(begun).toEqual(['dead', 'dead']);
  });
});

describe('many names', () => {
  it('use no more threads than the limit, in order', async () => {
    const hosts = ['a', 'b', 'c', 'd', 'e', 'f'];
    const outcomes = Promise.all(hosts.map((host) => outcomeOf(host, host)));
    await nextTurn();
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
    for (const host of ['a', 'c', 'd', 'e', 'f']) await end(host);
    expect(await outcomes).toEqual(hosts.map(() => [ADDRESS]));
  });

  it('leave threads to the others while they have no answer', async () => {
    await letDie(dead(3));
    jest.advanceTimersByTime(30_000);
    for (const host of dead(3)) void outcomeOf(host);
    const good = [outcomeOf('good-0'), outcomeOf('good-1', 'other')];
    await nextTurn();
    expect(begun).toEqual(['dead-0', 'dead-1', 'good-0', 'good-1']);
    await end('good-0');
    await end('good-1');
    expect(await Promise.all(good)).toEqual([[ADDRESS], [ADDRESS]]);
    expect(open.size).toBe(2);
  });

  it('are not looked up any more once their callers have stopped waiting', async () => {
    for (const host of dead(4)) void outcomeOf(host);
    const late = outcomeOf('late');
    await nextTurn();
    jest.advanceTimersByTime(30_001);
    const next = outcomeOf('next');
    await end('dead-0', UNANSWERED);
    expect(await late).toBe('ETIMEOUT');
    await end('next');
    expect(await next).toEqual([ADDRESS]);
    expect(begun).not.toContain('late');
  });
});

describe('names of one account that have no answer', () => {
  it('leave a look-up to every other account, at once', async () => {
    for (const host of dead(50)) void outcomeOf(host, 'one');
    const other = outcomeOf('good', 'other');
    await nextTurn();
    expect(begun).toEqual(['dead-0', 'dead-1', 'dead-2', 'good']);
    await end('good');
    expect(await other).toEqual([ADDRESS]);
  });

  it('take turns with the names of other accounts', async () => {
    for (const host of dead(50)) void outcomeOf(host, 'one');
    for (const host of ['a', 'b', 'c']) void outcomeOf(host, 'other');
    await nextTurn();
    for (const host of dead(3)) await end(host, UNANSWERED);
    expect(begun.slice(0, 4)).toEqual(['dead-0', 'dead-1', 'dead-2', 'a']);
    expect(begun.slice(4).toSorted()).toEqual(['b', 'dead-3']);
  });

  it('hold up no other account that looks up one of them', async () => {
    for (const host of [...dead(50), 'good']) void outcomeOf(host, 'one');
    const other = outcomeOf('good', 'other');
    await nextTurn();
    await end('good');
    expect(await other).toEqual([ADDRESS]);
  });
});

describe('a name without an answer that several accounts wait for', () => {
  it('has one look-up and one slot, and fails for all of them at once', async () => {
    const busy = ['a', 'b', 'c', 'd'];
    for (const host of busy) void outcomeOf(host, host);
    await nextTurn();
    const waiting = Promise.all(
      ['one', 'two', 'three', 'four'].map((account) => outcomeOf('popular', account)),
    );
    const good = outcomeOf('good', 'five');
    for (const host of busy) await end(host);
    expect(begun).toEqual([...busy, 'popular', 'good']);
    await end('good');
    expect(await good).toEqual([ADDRESS]);
    jest.advanceTimersByTime(10_000);
    await end('popular', UNANSWERED);
    expect(await waiting).toEqual(Array(4).fill('EAI_AGAIN'));
    expect(begun).toHaveLength(6);
  });

  it('fails for an account whose turn comes after it', async () => {
    const busy = ['a', 'b', 'c', 'd'];
    for (const host of busy) void outcomeOf(host, host);
    const first = outcomeOf('popular', 'one');
    const others = ['e', 'f', 'g'].map((host) => outcomeOf(host, host));
    const last = outcomeOf('popular', 'two');
    await nextTurn();
    await end('a');
    jest.advanceTimersByTime(10_000);
    await end('popular', UNANSWERED);
    expect(await first).toBe('EAI_AGAIN');
    for (const host of ['b', 'c', 'd', 'e', 'f', 'g']) await end(host);
    await Promise.all(others);
    expect(await last).toBe('EAI_AGAIN');
    expect(begun.filter((host) => host === 'popular')).toHaveLength(1);
  });
});

describe('the slots for names', () => {
  it.each([
    [1, { all: 1, slow: 1 }],
    [4, { all: 1, slow: 1 }],
    [16, { all: 6, slow: 3 }],
    [32, { all: 12, slow: 6 }],
  ])('of %d threads are the expected number', (threads, slots) => {
    expect(slotsOf(threads)).toEqual(slots);
  });
});

it('prefers the hosts file', async () => {
  expect(await new SystemNameResolver(SLOTS).resolve('localhost', 'one')).toContainEqual({
    address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
    family: expect.any(Number),
  });
});
