// Token buckets that all replicas share. One script reads, refills and writes a bucket, by the clock of Redis.
import { Redis } from 'ioredis';
import type { BucketRate } from './token-buckets.js';

// Milliseconds for a command, for any sign of life on the connection, and for connecting: a hanging Redis must delay
// no request.
const TIMEOUTS = { commandTimeout: 250, socketTimeout: 1_000, connectTimeout: 1_000 };

// KEYS[1]: the bucket. ARGV: capacity, tokens a millisecond, wanted tokens. Returns the milliseconds until there are so
// many; 0: they were taken. A full bucket expires.
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local capacity, refill = tonumber(ARGV[1]), tonumber(ARGV[2])
local wanted = math.min(tonumber(ARGV[3]), capacity)
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or capacity
local elapsed = math.max(0, now - (tonumber(bucket[2]) or now))
tokens = math.min(capacity, tokens + elapsed * refill)
local wait = 0
if wanted - tokens <= 0.000001 then tokens = tokens - wanted else wait = math.ceil((wanted - tokens) / refill) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', string.format('%.17g', now))
redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((capacity - tokens) / refill)))
return wait`;

interface BucketCommands {
  takeTokens(key: string, capacity: number, refill: number, wanted: number): Promise<number>;
}

export class RedisBuckets {
  private readonly redis: Redis & BucketCommands;

  constructor(url: string) {
    const redis = new Redis(url, {
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      scripts: { takeTokens: { lua: TAKE, numberOfKeys: 1 } },
      ...TIMEOUTS,
    });
    // The client reconnects by itself; without a listener a lost connection would end the process.
    redis.on('error', () => undefined);
    this.redis = redis as Redis & BucketCommands;
  }

  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  /** Takes tokens, all or none. Resolves with the milliseconds until there are so many; 0: they were taken. */
  take(key: string, { capacity, refill }: BucketRate, wanted = 1): Promise<number> {
    return this.redis.takeTokens(`signalbox:bucket:${key}`, capacity, refill, wanted);
  }

  close(): void {
    this.redis.disconnect();
  }
}
