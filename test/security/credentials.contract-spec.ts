// Comparison, storage, guessing and generation of credentials: digests, whose look-up time reveals nothing; limits by
// address within bounded memory; a secure generator.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { RateLimiter } from '../../src/auth/rate-limiter.js';
import type { CallerCache, SessionCallers } from '../../src/auth/caller-cache.js';
import { BearerGuard } from '../../src/auth/guards.js';
import { readAppConfig } from '../../src/config/app-config.js';
import { createKeySecret, hashKeySecret } from '../../src/domain/keys/api-key.js';
import { SystemClock } from '../../src/domain/clock.js';
import { AppError } from '../../src/domain/errors.js';
import type { Installation } from '../../src/persistence/database/installation.js';

const limiterOf = (failures: number): RateLimiter =>
  new RateLimiter(
    readAppConfig(
      {
        DATABASE_URL: 'postgresql://user@127.0.0.1/none',
        ENCRYPTION_KEYS: Buffer.alloc(32, 3).toString('base64'),
        RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: String(failures),
      },
      [],
    ),
    new SystemClock(),
  );
const isRejected = (limiter: RateLimiter, address: string): Promise<boolean> =>
  limiter.countFailedAuthentication(address).then(
    () => false,
    (error: unknown) => error instanceof AppError && error.code === 'rate_limit_exceeded',
  );
async function fail(limiter: RateLimiter, address: string, times: number): Promise<void> {
  for (let count = 0; count < times; count++) {
    await limiter.countFailedAuthentication(address).catch((error: unknown) => {
      expect(error).toBeInstanceOf(AppError);
    });
  }
}

describe('a secret', () => {
  it('is looked up by its digest and never passed on', async () => {
    const asked: string[] = [];
    const callers = {
      find: async (hash: string) => {
        asked.push(hash);
        return null;
      },
    } as unknown as CallerCache;
    const limiter = limiterOf(1_000);
    const guard = new BearerGuard(
      callers,
      {} as SessionCallers,
      {} as Installation,
      limiter,
      new SystemClock(),
    );
    const secret = createKeySecret();
    const context = {
      getHandler: () => isRejected,
      getClass: () => RateLimiter,
      switchToHttp: () => ({
        getRequest: () => ({ ip: '192.0.2.1', headers: { authorization: `Bearer ${secret}` } }),
      }),
    };
    await expect(guard.canActivate(context as never)).rejects.toMatchObject({ code: 'invalid_credential' });
    expect(asked).toEqual([hashKeySecret(secret)]);
    limiter.onApplicationShutdown();
  });

  it('has 256 random bits', () => {
    const secrets = Array.from({ length: 1_000 }, createKeySecret);
    expect(new Set(secrets).size).toBe(1_000);
    for (const secret of secrets) expect(secret).toMatch(/^sk-sb-v1-[0-9a-f]{64}$/);
  });

  it('comes from a secure generator, and no other secret of this service can be guessed', () => {
    const root = new URL('../../src', import.meta.url).pathname;
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const users = files
      .filter((name) => !name.includes('generated') && !name.endsWith('.spec.ts'))
      .filter((name) => readFileSync(join(root, name), 'utf8').includes('Math.random'));
    // The choice among endpoints, and pauses: guessing them has no value.
    expect(users.toSorted()).toEqual([
      'deliveries/consumers/destination-consumer.ts',
      'deliveries/notifications/notification-sender.ts',
      'history/history-copier.ts',
      'routing/endpoints/endpoint-health-registry.ts',
      'upkeep/model-discovery.ts',
    ]);
  });
});

describe('guessing', () => {
  it('is counted by the network of an IPv6 address: the owner of one address has 2^64', async () => {
    const limiter = limiterOf(3);
    for (let host = 1; host <= 5; host++) await fail(limiter, `2001:db8:1:2::${host.toString(16)}`, 1);
    expect(await isRejected(limiter, '2001:db8:1:2:ffff::1')).toBe(true);
    expect(await isRejected(limiter, '2001:db8:1:3::1')).toBe(false);
    limiter.onApplicationShutdown();
  });

  it('is counted for each IPv4 address, in any form of the socket', async () => {
    const limiter = limiterOf(3);
    await fail(limiter, '192.0.2.1', 2);
    await fail(limiter, '::ffff:192.0.2.1', 2);
    expect(await isRejected(limiter, '192.0.2.1')).toBe(true);
    expect(await isRejected(limiter, '192.0.2.2')).toBe(false);
    expect(await isRejected(limiter, '::ffff:192.0.2.2')).toBe(false);
    limiter.onApplicationShutdown();
  });

  it('uses bounded memory with ever new addresses', async () => {
    const limiter = limiterOf(3);
    await fail(limiter, '10.0.0.0', 5);
    expect(await isRejected(limiter, '10.0.0.0')).toBe(true);
    for (let count = 1; count < 21_000; count++) {
      await limiter.countFailedAuthentication(`10.0.${count >> 8}.${count & 255}`);
    }
    // The first was evicted; the last are remembered.
    expect(await isRejected(limiter, '10.0.0.0')).toBe(false);
    await fail(limiter, '10.0.82.7', 3);
    expect(await isRejected(limiter, '10.0.82.7')).toBe(true);
    limiter.onApplicationShutdown();
  });
});
