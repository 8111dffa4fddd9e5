// Requests per minute of a key, and failed authentications per minute of an address. In memory, or shared by all
// replicas through Redis; while Redis is away each replica counts for itself. Source: decisions 20.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { AppConfig } from '../config/app-config.js';
import type { ApiKey } from '../domain/api-key.js';
import { AppError } from '../domain/errors.js';

const WINDOW_SECONDS = 60;

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
    this.failures = this.createLimiter('failures', config.rateLimits.failedAuthentication);
  }

  /** Counts one request of the key; throws `rate_limit_exceeded` when the minute's are used up. */
  async consume(key: ApiKey): Promise<void> {
    const limiter = this.byKind[key.kind];
    if (limiter) await orRefuse(limiter, limiter.consume(key.id));
  }

  async countFailedAuthentication(address: string): Promise<void> {
    if (this.failures) await orRefuse(this.failures, this.failures.consume(address));
  }

  async refuseAddressWithTooManyFailures(address: string): Promise<void> {
    const state = await this.failures?.get(address);
    if (this.failures && state && state.consumedPoints > this.failures.points)
      throw refusal(this.failures, state);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  private createLimiter(name: string, points: number): RateLimiterAbstract | null {
    if (points === 0) return null;
    const inMemory = new RateLimiterMemory({ keyPrefix: name, points, duration: WINDOW_SECONDS });
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

function connectRedis(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, enableOfflineQueue: false });
  // It reconnects by itself; without a listener a lost connection would end the process.
  redis.on('error', () => undefined);
  return redis;
}

async function orRefuse(limiter: RateLimiterAbstract, consumed: Promise<unknown>): Promise<void> {
  try {
    await consumed;
  } catch (error) {
    throw error instanceof RateLimiterRes ? refusal(limiter, error) : error;
  }
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
