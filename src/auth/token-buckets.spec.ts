// Token buckets: bursts, refill, honest waits, and bounded memory.
import { describe, expect, it } from '@jest/globals';
import { BucketRate, MemoryBuckets } from './token-buckets.js';

const START = 1_764_000_000_000;

/** Takes tokens at one moment until one is refused. */
function burst(buckets: MemoryBuckets, now: number, key = 'key'): number {
  for (let granted = 0; ; granted++) if (buckets.take(key, now) > 0) return granted;
}

describe.each([1, 2, 3, 7, 60, 600, 6_000])('a limit of %i a minute', (limit) => {
  const create = () => new MemoryBuckets(new BucketRate(limit), 10);

  it('grants exactly the limit at once', () => {
    expect(burst(create(), START)).toBe(limit);
  });

  it('grants the next request after the announced wait of at most 59 s, and not before', () => {
    const buckets = create();
    burst(buckets, START);
    let now = START;
    for (let time = 0; time < 3; time++) {
      const wait = buckets.take('key', now);
      expect(wait).toBeLessThanOrEqual(59_000);
      expect(buckets.take('key', now + wait * 0.99)).toBeGreaterThan(0);
      now += wait;
      expect(buckets.take('key', now)).toBe(0);
    }
  });

  it('grants no more than the limit in an average minute', () => {
    const buckets = create();
    const minutes = 3;
    let granted = burst(buckets, START);
    for (let second = 1; second <= minutes * 60; second++) granted += burst(buckets, START + second * 1_000);
    expect(granted).toBeGreaterThanOrEqual(limit * minutes);
    // One a minute refills a little faster.
    expect(granted).toBeLessThanOrEqual(Math.ceil((limit * (minutes + 1) * 60) / 59));
  });
});

it('a clock that is set back costs no more than the tokens of one minute', () => {
  const buckets = new MemoryBuckets(new BucketRate(6), 10);
  burst(buckets, START);
  const earlier = START - 86_400_000;
  expect(burst(buckets, earlier)).toBe(0);
  expect(burst(buckets, earlier + 60_000)).toBe(6);
});

it('keys have buckets of their own, and the least recently used one is dropped beyond the bound', () => {
  const buckets = new MemoryBuckets(new BucketRate(2), 2);
  expect([burst(buckets, START, 'a'), burst(buckets, START, 'b')]).toEqual([2, 2]);
  expect(burst(buckets, START, 'a')).toBe(0);
  expect(burst(buckets, START, 'c')).toBe(2);
  expect([burst(buckets, START, 'a'), burst(buckets, START, 'b')]).toEqual([0, 2]);
});

it('takes several tokens at once, all or none, and at most those of a minute', () => {
  const buckets = new MemoryBuckets(new BucketRate(60), 10);
  expect(buckets.take('key', START, 50)).toBe(0);
  expect(buckets.take('key', START, 20)).toBe(10_000);
  expect(burst(buckets, START)).toBe(10);
  expect(buckets.take('other', START, 1_000)).toBe(0);
  expect(burst(buckets, START, 'other')).toBe(0);
});
