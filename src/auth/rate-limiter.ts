// Requests per minute of a key, and failed authentications per minute of an address. In memory, or shared by all
// replicas through Redis; while Redis is away each replica counts for itself. Source: decisions 20.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { AppConfig } from '../config/app-config.js';
import type { ApiKey } from '../domain/api-key.js';
import { AppError } from '../domain/errors.js';
import { readIpAddress } from '../domain/ip-ranges.js';

const WINDOW_SECONDS = 60;
// Milliseconds that Redis may take to answer, and to say anything at all before the connection counts as lost: what hangs
// must hold up nobody.
const REDIS_PATIENCE = { commandTimeout: 250, socketTimeout: 1_000, connectTimeout: 1_000 };
// Networks whose failures a process remembers. Keys are as many as were made; networks are as many as an attacker has.
const MAX_FAILING_NETWORKS = 20_000;

@Injectable()
export class RateLimiter implements OnApplicationShutdown {
  private readonly redis: Redis | null;
  private readonly byKind: Record<ApiKey['kind'], RateLimiterAbstract | null>;
  private readonly failures: RateLimiterAbstract | null;

  constructor(config: AppConfig) {
    this.redis = config.redisUrl ? connectRedis(config.redisUrl) : null;
    this.byKind = {
      management: this.createLimiter('management', config.rateLimits.management),
      inference: this.createLimiter('inference', config.rateLimits.inference),
    };
    this.failures = this.createLimiter(
      'failures',
      config.rateLimits.failedAuthentication,
      BoundedLimiterInMemory,
    );
  }

  /** Counts one request of the key; rejects with `rate_limit_exceeded` when the minute's are used up. */
  consume(key: ApiKey): true | Promise<true> {
    const limiter = this.byKind[key.kind];
    return limiter === null || orRefuse(limiter, limiter.consume(key.id));
  }

  async countFailedAuthentication(address: string): Promise<void> {
    if (this.failures) await orRefuse(this.failures, this.failures.consume(networkOf(address)));
  }

  async refuseAddressWithTooManyFailures(address: string): Promise<void> {
    const state = await this.failures?.get(networkOf(address));
    if (this.failures && state && state.consumedPoints > this.failures.points)
      throw refusal(this.failures, state);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
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

/** Forgets whoever was counted longest ago when there are too many. */
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

/** Who has one address of IPv6 has all of a network's: 2^64. */
function networkOf(address: string): string {
  const read = readIpAddress(address);
  if (read === null) return address;
  return `${read.family}-${read.family === 6 ? read.value >> 64n : read.value}`;
}

function connectRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false, ...REDIS_PATIENCE });
  // It reconnects by itself; without a listener a lost connection would end the process.
  redis.on('error', () => undefined);
  return redis;
}

function orRefuse(limiter: RateLimiterAbstract, consumed: Promise<unknown>): Promise<true> {
  return consumed.then(
    () => true,
    (error: unknown) => {
      throw error instanceof RateLimiterRes ? refusal(limiter, error) : error;
    },
  );
}

/** contract section 5: platform 429s say when to come back and what the limit is. */
function refusal(limiter: RateLimiterAbstract, state: RateLimiterRes): AppError {
  const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  return new AppError('rate_limit_exceeded', {
    detail: `${limiter.points} requests a minute; try again in ${seconds} s`,
    headers: {
      'Retry-After': String(seconds),
      'X-RateLimit-Limit': String(limiter.points),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(seconds),
    },
  });
}
