// Requests per minute of a key, changes per minute of an account, failed authentications and unauthenticated requests
// of an address (docs/contract.md#rate-limits). Counted in memory, or shared by all replicas through Redis. While
// Redis is unreachable each replica counts for itself.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { AppConfig } from '../config/app-config.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { readIpAddress } from '../domain/ip-ranges.js';

const WINDOW_SECONDS = 60;
// Milliseconds for a command, for any sign of life on the connection, and for connecting: a hanging Redis must delay
// no request.
const REDIS_TIMEOUT = { commandTimeout: 250, socketTimeout: 1_000, connectTimeout: 1_000 };
// Networks whose failures a process remembers. The number of keys is bounded by the quotas; an attacker's networks
// are not.
const MAX_FAILING_NETWORKS = 20_000;

type RateLimitUnit = 'requests' | 'changes';

@Injectable()
export class RateLimiter implements OnApplicationShutdown {
  private readonly redis: Redis | null;
  private readonly byKind: Record<ApiKey['kind'], RateLimiterAbstract | null>;
  private readonly changes: RateLimiterAbstract | null;
  private readonly failures: RateLimiterAbstract | null;
  private readonly publicRequests: RateLimiterAbstract | null;

  constructor(
    config: AppConfig,
    private readonly clock: Clock,
  ) {
    this.redis = config.redisUrl ? connectRedis(config.redisUrl) : null;
    this.byKind = {
      management: this.createLimiter('management', config.rateLimits.management),
      inference: this.createLimiter('inference', config.rateLimits.inference),
    };
    this.changes = this.createLimiter('changes', config.rateLimits.changes);
    this.failures = this.createLimiter(
      'failures',
      config.rateLimits.failedAuthentication,
      BoundedLimiterInMemory,
    );
    this.publicRequests = this.createLimiter('public', config.rateLimits.public, BoundedLimiterInMemory);
  }

  /** Counts one request of the key; rejects with `rate_limit_exceeded` beyond the limit. */
  consume(key: ApiKey): true | Promise<true> {
    const limiter = this.byKind[key.kind];
    return limiter === null || this.orReject(limiter, limiter.consume(key.id));
  }

  /**
   * Counts one change: toward the requests of the key, and toward the changes of its account with all of its keys.
   */
  async consumeChange(key: ApiKey): Promise<true> {
    await this.consume(key);
    const { changes } = this;
    return changes === null || this.orReject(changes, changes.consume(key.accountId), 'changes');
  }

  /** Counts one request that needs no credential. */
  consumePublic(address: string): true | Promise<true> {
    const { publicRequests: limiter } = this;
    return limiter === null || this.orReject(limiter, limiter.consume(networkOf(address)));
  }

  /** Rejects with `rate_limit_exceeded` beyond the limit. */
  async countFailedAuthentication(address: string): Promise<void> {
    if (this.failures) await this.orReject(this.failures, this.failures.consume(networkOf(address)));
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  private orReject(
    limiter: RateLimiterAbstract,
    consumed: Promise<unknown>,
    unit?: RateLimitUnit,
  ): Promise<true> {
    return consumed.then(
      () => true,
      (error: unknown) => {
        throw error instanceof RateLimiterRes ? this.rejection(limiter, error, unit) : error;
      },
    );
  }

  /** The headers carry the limit and the time of the reset. The body repeats them, because clients hide headers. */
  private rejection(
    limiter: RateLimiterAbstract,
    { msBeforeNext }: RateLimiterRes,
    unit: RateLimitUnit = 'requests',
  ): AppError {
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    const limit = {
      'X-RateLimit-Limit': String(limiter.points),
      'X-RateLimit-Remaining': '0',
      // Epoch milliseconds.
      'X-RateLimit-Reset': String(this.clock.now().getTime() + Math.max(0, Math.ceil(msBeforeNext))),
    };
    return new AppError('rate_limit_exceeded', {
      detail: `${limiter.points} ${unit} a minute; try again in ${seconds} s`,
      metadata: { headers: limit },
      headers: { 'Retry-After': String(seconds), ...limit },
    });
  }

  private createLimiter(
    name: string,
    points: number,
    LimiterInMemory = RateLimiterMemory,
  ): RateLimiterAbstract | null {
    if (points === 0) return null;
    const inMemory = new LimiterInMemory({ keyPrefix: name, points, duration: WINDOW_SECONDS });
    if (!this.redis) return inMemory;
    return new RateLimiterRedis({
      storeClient: this.redis,
      keyPrefix: `signalbox:${name}`,
      points,
      duration: WINDOW_SECONDS,
      insuranceLimiter: inMemory,
      rejectIfRedisNotReady: true,
    });
  }
}

/** Evicts the network that was counted least recently when there are too many. */
class BoundedLimiterInMemory extends RateLimiterMemory {
  private readonly counted = new LRUCache<string, true>({
    max: MAX_FAILING_NETWORKS,
    dispose: (_value, key, reason) => {
      if (reason === 'evict') void this.delete(key);
    },
  });

  override async consume(...given: Parameters<RateLimiterMemory['consume']>): Promise<RateLimiterRes> {
    this.counted.set(String(given[0]), true);
    return super.consume(...given);
  }
}

/** A holder of one IPv6 address controls its whole /64. */
function networkOf(address: string): string {
  const read = readIpAddress(address);
  if (read === null) return address;
  return `${read.family}-${read.family === 6 ? read.value >> 64n : read.value}`;
}

function connectRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, ...REDIS_TIMEOUT });
  // The client reconnects by itself; without a listener a lost connection would end the process.
  redis.on('error', () => undefined);
  return redis;
}
