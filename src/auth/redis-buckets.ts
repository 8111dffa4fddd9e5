// Token buckets that all replicas share. One script reads, refills and writes a bucket, by the clock of Redis.
import { Redis } from 'ioredis';
import type { BucketRate, Taken } from './token-buckets.js';

// Milliseconds for a command, for any sign of life on the connection, and for connecting: a hanging Redis must delay
// no request.
const TIMEOUTS = { commandTimeout: 250, socketTimeout: 1_000, connectTimeout: 1_000 };

// KEYS[1]: the bucket. ARGV: capacity, tokens a millisecond, tokens that a request needs. Returns the milliseconds
// until the next token, 0 for a granted request, and those until the bucket is full. A full bucket expires.
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local capacity, refill, needed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = tonumber(bucket[1]) or capacity
local elapsed = math.max(0, now - (tonumber(bucket[2]) or now))
tokens = math.min(capacity, tokens + elapsed * refill)
local wait = 0
if needed - tokens <= 0.000001 then tokens = tokens - 1 else wait = math.ceil((needed - tokens) / refill) end
local full_in = math.max(1, math.ceil((capacity - tokens) / refill))
redis.call('HSET', KEYS[1], 'tokens', string.format('%.17g', tokens), 'at', string.format('%.17g', now))
redis.call('PEXPIRE', KEYS[1], full_in)
return { wait, full_in }`;

interface BucketCommands {
  takeToken(
    key: string,
    capacity: number,
    refill: number,
    needed: number,
  ): Promise<readonly [number, number]>;
}

export class RedisBuckets {
  private readonly redis: Redis & BucketCommands;

  constructor(url: string) {
    const redis = new Redis(url, {
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      scripts: { takeToken: { lua: TAKE, numberOfKeys: 1 } },
      ...TIMEOUTS,
    });
    // The client reconnects by itself; without a listener a lost connection would end the process.
    redis.on('error', () => undefined);
    this.redis = redis as Redis & BucketCommands;
  }

  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  async take(key: string, { capacity, refill, needed }: BucketRate): Promise<Taken> {
    const [wait, fullIn] = await this.redis.takeToken(`signalbox:bucket:${key}`, capacity, refill, needed);
    return { wait, fullIn };
  }

  close(): void {
    this.redis.disconnect();
  }
}
