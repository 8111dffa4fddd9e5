import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { TestClock } from '../../../test/support/app/clock.js';
import { readAppConfig } from '../../config/app-config.js';
import { EmbeddingCache } from './embedding-cache.js';
import type { SourcedVector } from './embedding-cache.js';

const OWNER = { accountId: 'account', workspaceId: 'workspace' };
const SOURCE = { provider: 'OpenAI', slug: 'openai', endpoint: 'openai/some-model' };

function createCache(bytes = 1_000_000, secondsToLive = 60) {
  const clock = new TestClock();
  const config = readAppConfig(
    {
      DATABASE_URL: 'postgresql://nowhere.invalid/none',
      ENCRYPTION_KEYS: Buffer.alloc(32).toString('base64'),
      EMBEDDING_CACHE_BYTES: String(bytes),
      EMBEDDING_CACHE_TTL: String(secondsToLive),
    },
    [],
  );
  return { clock, cache: new EmbeddingCache(config, clock) };
}

const vectorOf = (key: string): SourcedVector => ({
  vector: { form: 'json', text: Buffer.from(`["${key}"]`) },
  source: SOURCE,
});

/** A call that fetches what is missing, pays and ends. */
function buy(cache: EmbeddingCache, keys: readonly string[]): void {
  const claim = cache.claim(keys, OWNER);
  claim.add(
    claim.missing,
    claim.missing.map((index) => vectorOf(keys[index]!)),
  );
  claim.publish();
  claim.release();
}

/** The keys that the cache does not hold. */
function missingOf(cache: EmbeddingCache, keys: readonly string[]): string[] {
  const claim = cache.claim(keys, OWNER);
  claim.release();
  return claim.missing.map((index) => keys[index]!);
}

const soon = () => performance.now() + 10_000;

describe('a stored vector', () => {
  it('is found by later calls, in the order of their inputs', () => {
    const { cache } = createCache();
    buy(cache, ['a', 'b']);
    const claim = cache.claim(['b', 'c', 'a', 'c', 'b'], OWNER);
    expect(claim.missing).toEqual([1]);
    claim.add([1], [vectorOf('c')]);
    expect(claim.vectors()).toEqual(['b', 'c', 'a', 'c', 'b'].map(vectorOf));
    expect([0, 1, 2, 3, 4].map((index) => claim.isCached(index))).toEqual([true, false, true, true, true]);
    claim.release();
  });

  it.each([
    ['text', { form: 'base64', text: Buffer.alloc(1_000_000, 65).subarray(10, 18) }],
    ['numbers', { form: 'floats', values: new Float32Array(250_000).subarray(10, 12) }],
  ] as const)(
    'is a copy of the %s, and holds nothing of the answer that it was cut from',
    (_name, vector) => {
      const { cache } = createCache();
      cache.store(OWNER, 'a', { vector, source: SOURCE });
      const kept = cache.get(OWNER, 'a')!.vector;
      expect(kept).toEqual(vector);
      const bytes = kept.form === 'floats' ? kept.values : kept.text;
      const given = vector.form === 'floats' ? vector.values : vector.text;
      expect(bytes.buffer.byteLength).toBe(8);
      given.fill(66);
      expect([...bytes]).not.toContain(66);
    },
  );

  it('expires after its time to live', () => {
    const { cache, clock } = createCache(1_000_000, 60);
    buy(cache, ['a']);
    clock.advance(60_000);
    expect(missingOf(cache, ['a'])).toEqual([]);
    clock.advance(1);
    expect(missingOf(cache, ['a'])).toEqual(['a']);
  });

  it('counts with its overhead toward the byte limit, and the least recently used is evicted', () => {
    const { cache } = createCache(100 * 1024);
    const keys = Array.from({ length: 1_000 }, (_value, index) => String(index));
    for (const key of keys) {
      buy(cache, [key]);
      buy(cache, ['0']);
    }
    const left = keys.length - missingOf(cache, keys).length;
    expect(left).toBeGreaterThan(90);
    expect(left).toBeLessThan(100);
    expect(missingOf(cache, ['0', '1', '998', '999'])).toEqual(['1']);
  });

  it('is not stored when it is larger than the whole cache', () => {
    const { cache } = createCache(10_000);
    buy(cache, ['small']);
    cache.store(OWNER, 'large', { vector: { form: 'json', text: Buffer.alloc(10_000) }, source: SOURCE });
    expect(missingOf(cache, ['small', 'large'])).toEqual(['large']);
  });

  it('is not stored with 0 bytes', () => {
    const { cache } = createCache(0);
    buy(cache, ['a']);
    expect(missingOf(cache, ['a'])).toEqual(['a']);
  });
});

describe('in-flight calls', () => {
  it('share vectors within their workspace only', () => {
    const { cache } = createCache();
    const first = cache.claim(['a'], OWNER);
    const stranger = cache.claim(['a'], { accountId: 'other', workspaceId: 'other' });
    const second = cache.claim(['a'], OWNER);
    expect([first.missing, stranger.missing, second.missing]).toEqual([[0], [0], []]);
    for (const claim of [first, stranger, second]) claim.release();
  });

  it('share a bounded number of inputs of a workspace; beyond it each call fetches its own', () => {
    const { cache } = createCache();
    const keys = Array.from({ length: 100_001 }, (_value, index) => String(index));
    const flooding = cache.claim(keys, OWNER);
    expect(flooding.missing).toHaveLength(100_001);
    const second = cache.claim(['0', '100000'], OWNER);
    expect(second.missing).toEqual([1]);
    second.release();
    flooding.release();
    expect(missingOf(cache, ['0', '100000'])).toEqual(['0', '100000']);
  });

  it('withdraw only their own inputs when they end', () => {
    const { cache } = createCache(0);
    const first = cache.claim(['a'], OWNER);
    const second = cache.claim(['a', 'b'], OWNER);
    second.release();
    expect(missingOf(cache, ['a', 'b'])).toEqual(['b']);
    first.release();
  });

  it('share vectors with 0 bytes of cache as well', async () => {
    const { cache } = createCache(0);
    const first = cache.claim(['a', 'b'], OWNER);
    const second = cache.claim(['c', 'b'], OWNER);
    expect([first.missing, second.missing]).toEqual([[0, 1], [0]]);
    first.add([0, 1], [vectorOf('a'), vectorOf('b')]);
    first.publish();
    first.release();
    expect(await second.takeFromOthers(soon())).toEqual([]);
    second.add([0], [vectorOf('c')]);
    expect(second.vectors()).toEqual([vectorOf('c'), vectorOf('b')]);
    expect([second.isCached(0), second.isCached(1)]).toEqual([false, true]);
    second.release();
  });

  it('release waiting calls when they fail, and store nothing', async () => {
    const { cache } = createCache();
    const failing = cache.claim(['a', 'b'], OWNER);
    const waiting = cache.claim(['x', 'b', 'b', 'a'], OWNER);
    failing.add([0, 1], [vectorOf('a'), vectorOf('b')]);
    failing.release();
    expect(await waiting.takeFromOthers(soon())).toEqual([1, 3]);
    waiting.release();
    expect(missingOf(cache, ['a', 'b', 'x'])).toEqual(['a', 'b', 'x']);
  });

  it('fail without a second fetch when a third call has fetched the vector', async () => {
    const { cache } = createCache();
    const failing = cache.claim(['a'], OWNER);
    const waiting = cache.claim(['a'], OWNER);
    failing.release();
    buy(cache, ['a']);
    expect(await waiting.takeFromOthers(soon())).toEqual([]);
    expect(waiting.vectors()).toEqual([vectorOf('a')]);
    waiting.release();
  });

  it('are awaited until the deadline', async () => {
    const { cache } = createCache();
    const slow = cache.claim(['a'], OWNER);
    const waiting = cache.claim(['a'], OWNER);
    await expect(waiting.takeFromOthers(performance.now())).rejects.toMatchObject({
      code: 'operation_timeout',
    });
    waiting.release();
    slow.release();
  });

  it('never wait for each other, for any inputs and failures', async () => {
    const calls = fc.array(
      fc.record({
        keys: fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 5 }),
        fails: fc.boolean(),
      }),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(calls, fc.boolean(), async (asked, isKept) => {
        const { cache } = createCache(isKept ? 1_000_000 : 0);
        const claims = asked.map(({ keys }) => cache.claim(keys, OWNER));
        // The last comes first: each gives what it has only when it has all.
        const finished = claims.map(async (claim, nth) => {
          const { keys, fails } = asked[nth]!;
          const fetch = (indexes: readonly number[]) =>
            claim.add(
              indexes,
              indexes.map((index) => vectorOf(keys[index]!)),
            );
          fetch(claim.missing);
          fetch(await claim.takeFromOthers(soon()));
          expect(claim.vectors()).toEqual(keys.map(vectorOf));
          if (!fails) claim.publish();
          claim.release();
        });
        await Promise.all(finished);
        const bought = asked.filter(({ fails }) => !fails).flatMap(({ keys }) => keys);
        const missing = new Set(missingOf(cache, ['a', 'b', 'c', 'd']));
        for (const key of bought) if (isKept) expect(missing).not.toContain(key);
        if (!isKept) expect(missing.size).toBe(4);
      }),
    );
  });
});
