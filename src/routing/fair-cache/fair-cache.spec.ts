// Eviction among accounts and workspaces.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { FairCache } from './fair-cache.js';
import type { CacheOwner } from './fair-cache.js';

const MAX_BYTES = 1_000_000;
const ENTRY = 1_000;

interface Entry {
  readonly bytes: number;
}

function createCache(maxBytes = MAX_BYTES, timeToLive = 3_600_000) {
  const clock = { now: 1 };
  const options = { maxBytes, timeToLive, now: () => clock.now, sizeOf: ({ bytes }: Entry) => bytes };
  return { clock, cache: new FairCache<Entry>(options) };
}

const ownerOf = (accountId: string, workspaceId = `${accountId}-default`): CacheOwner => ({
  accountId,
  workspaceId,
});

function fill(cache: FairCache<Entry>, owner: CacheOwner, count: number): void {
  for (let key = 0; key < count; key++) cache.set(owner, String(key), { bytes: ENTRY });
}

const keptOf = (cache: FairCache<Entry>, owner: CacheOwner, count: number): number =>
  Array.from({ length: count }, (_, key) => cache.get(owner, String(key))).filter(Boolean).length;

describe('a full cache', () => {
  it('evicts nothing of an account that is smaller than one that stores without end', () => {
    const { cache } = createCache();
    fill(cache, ownerOf('small'), 100);
    fill(cache, ownerOf('flooding'), 10_000);
    expect(keptOf(cache, ownerOf('small'), 100)).toBe(100);
    expect(keptOf(cache, ownerOf('flooding'), 10_000)).toBeGreaterThan(880);
    expect(cache.size).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('evicts nothing of a small account when a large one spreads over many workspaces', () => {
    const { cache } = createCache();
    fill(cache, ownerOf('small'), 400);
    for (let workspace = 0; workspace < 500; workspace++)
      fill(cache, ownerOf('flooding', `workspace-${workspace}`), 20);
    expect(keptOf(cache, ownerOf('small'), 400)).toBe(400);
    expect(cache.size).toBeLessThanOrEqual(MAX_BYTES);
  });

  it('evicts nothing of a workspace that is smaller than another of its account', () => {
    const { cache } = createCache();
    fill(cache, ownerOf('a', 'production'), 100);
    fill(cache, ownerOf('a', 'experiment'), 10_000);
    expect(keptOf(cache, ownerOf('a', 'production'), 100)).toBe(100);
  });

  it('leaves an account that filled the cache its fair share', () => {
    const { cache } = createCache();
    fill(cache, ownerOf('first'), 10_000);
    for (const name of ['second', 'third', 'fourth']) fill(cache, ownerOf(name), 10_000);
    for (const name of ['first', 'second', 'third', 'fourth'])
      expect(keptOf(cache, ownerOf(name), 10_000)).toBeGreaterThan(240);
  });

  it('evicts the least recently used entry of an owner first', () => {
    const { cache } = createCache(5 * ENTRY + 2048);
    fill(cache, ownerOf('a'), 5);
    cache.get(ownerOf('a'), '0');
    cache.set(ownerOf('a'), '5', { bytes: ENTRY });
    expect(Array.from({ length: 6 }, (_, key) => Boolean(cache.get(ownerOf('a'), String(key))))).toEqual([
      true,
      false,
      true,
      true,
      true,
      true,
    ]);
  });
});

it('stops counting an expired entry, and its workspace with the last one', () => {
  const { cache, clock } = createCache(MAX_BYTES, 60_000);
  fill(cache, ownerOf('a'), 3);
  expect(cache.size).toBeGreaterThan(3 * ENTRY);
  clock.now += 60_001;
  expect(keptOf(cache, ownerOf('a'), 3)).toBe(0);
  expect(cache.size).toBe(0);
});

it('stores no entry that is larger than the whole, and returns none to another workspace', () => {
  const { cache } = createCache(10_000);
  cache.set(ownerOf('a'), 'large', { bytes: 10_000 });
  cache.set(ownerOf('a'), 'small', { bytes: 1 });
  expect(cache.get(ownerOf('a'), 'large')).toBeUndefined();
  expect(cache.get(ownerOf('a'), 'small')).toEqual({ bytes: 1 });
  expect(cache.get(ownerOf('a', 'other'), 'small')).toBeUndefined();
  expect(cache.get(ownerOf('b', 'a-default'), 'small')).toBeUndefined();
});

it('never exceeds its limit, for any owners and sizes', () => {
  const stores = fc.array(
    fc.record({
      accountId: fc.constantFrom('a', 'b', 'c'),
      workspaceId: fc.constantFrom('1', '2'),
      key: fc.constantFrom('x', 'y', 'z'),
      bytes: fc.integer({ min: 1, max: 4_000 }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(stores, (entries) => {
      const { cache } = createCache(8_000);
      for (const { accountId, workspaceId, key, bytes } of entries) {
        cache.set({ accountId, workspaceId }, key, { bytes });
        expect(cache.size).toBeLessThanOrEqual(8_000);
        const kept = cache.get({ accountId, workspaceId }, key);
        if (kept) expect(kept).toEqual({ bytes });
      }
    }),
  );
});
