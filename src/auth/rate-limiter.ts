// Requests per minute of a key or person, changes per minute of an account, failed authentications and unauthenticated requests
// of an address (docs/contract.md#rate-limits). Counted in memory, or shared by all replicas through Redis. While
// Redis is unreachable each replica counts for itself.
import { Injectable } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import type { Person } from '../domain/people/person.js';
import { Clock } from '../domain/clock.js';
import { readIpAddress } from '../domain/ip-ranges.js';
import { rateLimitExceeded } from '../domain/rate-limit.js';
import { RedisBuckets } from './redis-buckets.js';
import { BucketRate, MemoryBuckets } from './token-buckets.js';

// Buckets of one limit that a process remembers: keys and accounts that are active within a minute, and networks,
// whose number an attacker chooses.
const MAX_OWNERS = 100_000;
const MAX_NETWORKS = 20_000;
// Each costs a call to a provider, which no key pays for.
const PROVIDER_TESTS = 10;
// Of one federation policy: jobs share a token, and exchange it again when it ends.
const TOKEN_EXCHANGES = 60;

/** People count as management keys do. */
type Requester = Pick<ApiKey, 'id' | 'accountId' | 'kind'> | Pick<Person, 'id' | 'accountId'>;

/** One limit; null: switched off. */
interface Limit {
  readonly name: string;
  /** The counted events, as the error names them. */
  readonly unit: string;
  readonly rate: BucketRate;
  readonly buckets: MemoryBuckets;
}

@Injectable()
export class RateLimiter implements OnApplicationShutdown {
  private readonly redis: RedisBuckets | null;
  private readonly byKind: Readonly<Record<ApiKey['kind'], Limit | null>>;
  private readonly changes: Limit | null;
  private readonly failures: Limit | null;
  private readonly publicRequests: Limit | null;
  private readonly providerTests = createLimit(
    'provider-tests',
    'provider tests',
    PROVIDER_TESTS,
    MAX_OWNERS,
  );
  private readonly exchanges = createLimit(
    'token-exchanges',
    'token exchanges of the policy',
    TOKEN_EXCHANGES,
    MAX_OWNERS,
  );

  constructor(
    { redisUrl, rateLimits }: AppConfig,
    private readonly clock: Clock,
  ) {
    this.redis = redisUrl === undefined ? null : new RedisBuckets(redisUrl);
    this.byKind = {
      management: createLimit('management', 'requests', rateLimits.management, MAX_OWNERS),
      inference: createLimit('inference', 'requests', rateLimits.inference, MAX_OWNERS),
    };
    this.changes = createLimit('changes', 'changes', rateLimits.changes, MAX_OWNERS);
    this.failures = createLimit(
      'failures',
      'failed authentications',
      rateLimits.failedAuthentication,
      MAX_NETWORKS,
    );
    this.publicRequests = createLimit('public', 'requests', rateLimits.public, MAX_NETWORKS);
  }

  /** Whether replicas share their counts at this moment. */
  get isShared(): boolean {
    return this.redis?.isShared === true;
  }

  /** Counts one request of the key or person; rejects with `rate_limit_exceeded` beyond the limit. */
  consume(requester: Requester): true | Promise<true> {
    return this.take(this.byKind['kind' in requester ? requester.kind : 'management'], requester.id);
  }

  /**
   * Counts one change: toward the requests of the key or person, and toward the changes of the account with all of its keys
   * and people.
   */
  async consumeChange(requester: Requester): Promise<true> {
    await this.consume(requester);
    return this.take(this.changes, requester.accountId);
  }

  /**
   * Counts the changes that a request makes beside its first one, which is counted. A request of more changes than the
   * limit counts as the limit.
   */
  async consumeFurtherChanges(accountId: string, count: number): Promise<void> {
    const room = (this.changes?.rate.capacity ?? 0) - 1;
    if (room > 0 && count > 0) await this.take(this.changes, accountId, Math.min(count, room));
  }

  /** Counts one test of a provider by the account. */
  async consumeProviderTest(accountId: string): Promise<void> {
    await this.take(this.providerTests, accountId);
  }

  /** Counts one exchange of a token that the federation policy takes. */
  async consumeExchange(policyId: string): Promise<void> {
    await this.take(this.exchanges, policyId);
  }

  /** Counts one request that needs no credential. */
  consumePublic(address: string): true | Promise<true> {
    return this.take(this.publicRequests, networkOf(address));
  }

  /** Rejects with `rate_limit_exceeded` beyond the limit. */
  async countFailedAuthentication(address: string): Promise<void> {
    await this.take(this.failures, networkOf(address));
  }

  onApplicationShutdown(): void {
    this.redis?.close();
  }

  /** Returns no promise without Redis. */
  private take(limit: Limit | null, owner: string, count = 1): true | Promise<true> {
    if (limit === null) return true;
    if (!this.redis?.isReady) return this.orReject(limit, this.takeFromMemory(limit, owner, count));
    return this.redis.take(`${limit.name}:${owner}`, limit.rate, count).then(
      (wait) => this.orReject(limit, wait),
      () => this.orReject(limit, this.takeFromMemory(limit, owner, count)),
    );
  }

  private takeFromMemory({ buckets }: Limit, owner: string, count: number): number {
    return buckets.take(owner, this.clock.now().getTime(), count);
  }

  private orReject({ unit, rate: { capacity } }: Limit, wait: number): true {
    if (wait === 0) return true;
    throw rateLimitExceeded({
      limit: capacity,
      retryAfter: wait,
      now: this.clock.now(),
      detail: (seconds) => `${capacity} ${unit} a minute; try again in ${seconds} s`,
    });
  }
}

function createLimit(name: string, unit: string, capacity: number, maxBuckets: number): Limit | null {
  if (capacity === 0) return null;
  const rate = new BucketRate(capacity);
  return { name, unit, rate, buckets: new MemoryBuckets(rate, maxBuckets) };
}

/** A holder of one IPv6 address controls its whole /64. */
function networkOf(address: string): string {
  const read = readIpAddress(address);
  if (read === null) return address;
  return `${read.family}-${read.family === 6 ? read.value >> 64n : read.value}`;
}
