// Token buckets: each holds the requests of one minute and refills continuously. An unused bucket is full, so that
// forgetting one never rejects a request.
import { LRUCache } from 'lru-cache';

const PERIOD = 60_000;
// `openai` 4 and 5 obey a `Retry-After` below 60 s only. A limit of one request a minute therefore lends the token of
// its last second; the average rate stays the same.
const LONGEST_WAIT = 59_000;

/** The arithmetic of one limit, shared by the buckets in memory and the script of Redis. */
export class BucketRate {
  /** Tokens a millisecond. */
  readonly refill: number;
  /** Tokens that a request needs. It takes a whole one. */
  readonly needed: number;

  constructor(readonly capacity: number) {
    this.refill = capacity / PERIOD;
    this.needed = Math.min(1, LONGEST_WAIT * this.refill);
  }
}

/** The result of taking a token. */
export interface Taken {
  /** Milliseconds until the next token; 0: the request has its token. */
  readonly wait: number;
  /** Milliseconds until the bucket is full. */
  readonly fullIn: number;
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
    this.buckets = new LRUCache({ max });
  }

  take(key: string, now: number): Taken {
    const { capacity, refill, needed } = this.rate;
    const bucket = this.bucketOf(key, now);
    // The clock may have been set back.
    const elapsed = Math.max(0, now - bucket.refilledAt);
    bucket.tokens = Math.min(capacity, bucket.tokens + elapsed * refill);
    bucket.refilledAt = now;
    const missing = needed - bucket.tokens;
    const isGranted = missing <= ROUNDING;
    if (isGranted) bucket.tokens -= 1;
    return { wait: isGranted ? 0 : missing / refill, fullIn: (capacity - bucket.tokens) / refill };
  }

  private bucketOf(key: string, now: number): Bucket {
    const known = this.buckets.get(key);
    if (known) return known;
    const bucket = { tokens: this.rate.capacity, refilledAt: now };
    this.buckets.set(key, bucket);
    return bucket;
  }
}
