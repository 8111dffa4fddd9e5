// Token buckets: each holds the requests of one minute and refills continuously. An unused bucket is full, so that
// forgetting one never rejects a request.
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../domain/cache-capacity.js';

const PERIOD = 60_000;
// `openai` 4 and 5 obey a `Retry-After` below 60 s only: a limit of one request a minute refills in 59 s.
const LONGEST_WAIT = 59_000;

/** The arithmetic of one limit, shared by the buckets in memory and the script of Redis. */
export class BucketRate {
  /** Tokens a millisecond. */
  readonly refill: number;

  constructor(readonly capacity: number) {
    this.refill = Math.max(capacity / PERIOD, 1 / LONGEST_WAIT);
  }
}

interface Bucket {
  tokens: number;
  /** Milliseconds. */
  refilledAt: number;
}

// Far below a token, far above the rounding of a sum.
const ROUNDING = 1e-6;

export class MemoryBuckets {
  private readonly buckets: LRUCache<string, Bucket>;

  /** Beyond `max` buckets the least recently used one is dropped, and is full when it is needed again. */
  constructor(
    private readonly rate: BucketRate,
    max: number,
  ) {
    this.buckets = new LRUCache(capacityFor(max));
  }

  /** Takes tokens, all or none. Returns the milliseconds until there are so many; 0: they were taken. */
  take(key: string, now: number, wanted = 1): number {
    const { capacity, refill } = this.rate;
    const tokens = Math.min(wanted, capacity);
    const bucket = this.bucketOf(key, now);
    // The clock may have been set back.
    const elapsed = Math.max(0, now - bucket.refilledAt);
    bucket.tokens = Math.min(capacity, bucket.tokens + elapsed * refill);
    bucket.refilledAt = now;
    const missing = tokens - bucket.tokens;
    if (missing > ROUNDING) return missing / refill;
    bucket.tokens -= tokens;
    return 0;
  }

  private bucketOf(key: string, now: number): Bucket {
    const known = this.buckets.get(key);
    if (known) return known;
    const bucket = { tokens: this.rate.capacity, refilledAt: now };
    this.buckets.set(key, bucket);
    return bucket;
  }
}
