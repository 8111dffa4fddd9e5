// Every authenticated route: a change of a key takes effect at once on every replica, although keys are cached, and a
// key has a rate limit. Shown on GET /keys/{hash}.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp, TestKey } from '../../support/app/app.js';
import { rejectNewConnections } from '../../support/database/database-outage.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { getKey } from '../../support/requests/get-key.js';

describe('a change of a key', () => {
  let app: TestApp;
  let replica: TestApp;
  let replicas: readonly TestApp[];
  beforeAll(async () => {
    app = await createTestApp();
    replica = await app.startReplica();
    replicas = [app, replica];
  });
  afterAll(async () => {
    await replica.close();
    await app.close();
  });

  /** The status of the key on every replica; the request fills their caches. */
  const statuses = ({ secret }: TestKey): Promise<number[]> =>
    Promise.all(replicas.map(async (one) => (await getKey(one, app.key.hash, `Bearer ${secret}`)).status));
  const becomes = (key: TestKey, status: number): Promise<number[]> =>
    eventually(
      () => statuses(key),
      (found) => found.every((one) => one === status),
    );
  const createUsedKey = async (): Promise<TestKey> => {
    const key = await app.createKey({ kind: 'management' });
    expect(await statuses(key)).toEqual([200, 200]);
    expect(await statuses(key)).toEqual([200, 200]);
    return key;
  };
  const countListeners = async (): Promise<number> => {
    const [row] = await app.sql<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'signalbox notifications'`,
    );
    return Number(row!.count);
  };

  it('disables and enables it on two replicas at once', async () => {
    const key = await createUsedKey();
    await app.sql('UPDATE api_keys SET disabled = true WHERE id = $1', [key.record.id]);
    await becomes(key, 401);
    await app.sql('UPDATE api_keys SET disabled = false WHERE id = $1', [key.record.id]);
    await becomes(key, 200);
  });

  it.each([
    ['deleted', 'UPDATE api_keys SET deleted_at = now() WHERE id = $1'],
    ['removed from its table', 'DELETE FROM api_keys WHERE id = $1'],
    ['deprived of its secret', 'DELETE FROM api_key_secrets WHERE api_key_id = $1'],
    ['made an inference key', `UPDATE api_keys SET kind = 'inference' WHERE id = $1`],
  ])('makes every replica reject a cached key that is %s', async (_name, change) => {
    const key = await createUsedKey();
    await app.sql(change, [key.record.id]);
    await becomes(key, 401);
  });

  it('has no effect when it is rolled back', async () => {
    const key = await createUsedKey();
    await app
      .sql('DO $$ BEGIN UPDATE api_keys SET disabled = true; RAISE EXCEPTION $x$no$x$; END $$')
      .catch(() => 0);
    expect(await statuses(key)).toEqual([200, 200]);
  });

  it('takes effect while notifications are cut off, and they recover by themselves', async () => {
    const [cutOff, later] = [await createUsedKey(), await createUsedKey()];
    // Leaves this test a connection of its own.
    await eventually(countListeners, (count) => count === 2);
    const outage = await rejectNewConnections(app.databaseUrl);
    try {
      await outage.endConnections('signalbox notifications');
      await app.sql('UPDATE api_keys SET disabled = true WHERE id = $1', [cutOff.record.id]);
      await becomes(cutOff, 401);
      expect(await statuses(later)).toEqual([200, 200]);
    } finally {
      await outage.end();
    }
    await eventually(countListeners, (count) => count === 2);
    expect(await statuses(cutOff)).toEqual([401, 401]);
    expect(await statuses(later)).toEqual([200, 200]);
    await app.sql('UPDATE api_keys SET disabled = true WHERE id = $1', [later.record.id]);
    await becomes(later, 401);
  });
});

describe('429', () => {
  it('is returned with Retry-After to a key that used up its minute; other keys continue', async () => {
    const app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '3' } });
    try {
      const statuses = [];
      // Requests for unknown keys count as well.
      for (const hash of [app.key.hash, 'x', app.key.hash]) statuses.push((await getKey(app, hash)).status);
      expect(statuses).toEqual([200, 404, 200]);
      const rejected = await getKey(app, app.key.hash);
      expectError(rejected, 429, /^Rate limit exceeded: 3 requests a minute; try again in \d+ s$/);
      const seconds = Number(rejected.headers['retry-after']);
      expect(seconds).toBeGreaterThanOrEqual(1);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(rejected.headers).toMatchObject({
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
      });
      // Epoch milliseconds. The body repeats the three values, because clients hide the headers of errors.
      const untilReset = Number(rejected.headers['x-ratelimit-reset']) - app.clock.now().getTime();
      expect(untilReset).toBeGreaterThan((seconds - 1) * 1000);
      expect(untilReset).toBeLessThanOrEqual(seconds * 1000);
      expect(rejected.body).toMatchObject({
        error: {
          metadata: {
            error_type: 'rate_limit_exceeded',
            headers: {
              'X-RateLimit-Limit': '3',
              'X-RateLimit-Remaining': '0',
              'X-RateLimit-Reset': rejected.headers['x-ratelimit-reset'],
            },
          },
        },
      });
      const other = await app.createKey({ kind: 'management' });
      const answered = await getKey(app, app.key.hash, `Bearer ${other.secret}`);
      expect(answered.status).toBe(200);
      // Only rejections carry them (docs/contract.md#rate-limits).
      expect(Object.keys(answered.headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
    } finally {
      await app.close();
    }
  });

  it('is not returned with a limit of 0', async () => {
    const app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
    try {
      for (let count = 0; count < 5; count++) expect((await getKey(app, app.key.hash)).status).toBe(200);
    } finally {
      await app.close();
    }
  });
});
