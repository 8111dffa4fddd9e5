// Token buckets that all replicas share. One script reads, refills and writes a bucket, by the clock of Redis.
import { Logger } from '@nestjs/common';
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

// The bucket that shows, on each new connection, whether Redis runs the script.
const PROBE = { key: 'probe', rate: { capacity: 1, refill: 1 }, wanted: 0 };

export class RedisBuckets {
  private readonly logger = new Logger('RateLimits');
  private readonly redis: Redis & BucketCommands;
  /** Whether the last command succeeded and its connection lives; null: none was sent yet. */
  private answers: boolean | null = null;
  private isClosing = false;

  constructor(url: string) {
    const redis = new Redis(url, {
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      scripts: { takeTokens: { lua: TAKE, numberOfKeys: 1 } },
      ...TIMEOUTS,
    });
    this.redis = redis as Redis & BucketCommands;
    let reason: Error | undefined;
    // The client reconnects by itself; without a listener a lost connection would end the process.
    redis.on('error', (error) => (reason = error));
    redis.on('close', () => this.observe(false, reason));
    redis.on('ready', () => {
      reason = undefined;
      void this.take(PROBE.key, PROBE.rate, PROBE.wanted).catch(() => undefined);
    });
  }

  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  /** Whether replicas share their buckets at this moment. */
  get isShared(): boolean {
    return this.answers === true;
  }

  /** Takes tokens, all or none. Resolves with the milliseconds until there are so many; 0: they were taken. */
  async take(
    key: string,
    { capacity, refill }: Pick<BucketRate, 'capacity' | 'refill'>,
    wanted = 1,
  ): Promise<number> {
    try {
      const wait = await this.redis.takeTokens(`signalbox:bucket:${key}`, capacity, refill, wanted);
      this.observe(true);
      return wait;
    } catch (error) {
      this.observe(false, error);
      throw error;
    }
  }

  close(): void {
    this.isClosing = true;
    this.redis.disconnect();
  }

  /** Logs changes only, not every command. */
  private observe(answers: boolean, error?: unknown): void {
    const before = this.answers;
    if (this.isClosing || before === answers) return;
    this.answers = answers;
    if (!answers) {
      const loss = before === null ? 'failed to reach Redis' : 'lost Redis';
      this.logger.warn({ error }, `${loss}; this process counts rate limits for itself and will retry`);
    } else if (before === null) this.logger.log('rate limits are shared through Redis');
    else this.logger.log('Redis answers again; rate limits are shared');
  }
}
