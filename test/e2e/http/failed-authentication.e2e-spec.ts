// Guessing of keys is limited per address. Contract: docs/contract.md#rate-limits.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { hashKeySecret } from '../../../src/domain/keys/api-key.js';
import { ApiKeysRepository } from '../../../src/persistence/keys/api-keys.repository.js';
import { Notifications } from '../../../src/persistence/database/notifications.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { post, WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { getKey } from '../../support/requests/get-key.js';

describe('an address with three failed authentications in a minute', () => {
  let shared: TestApp;
  /** With an account of the test's own. */
  let app: TestApp;
  const guess = (secret = 'guess') => getKey(app, app.key.hash, `Bearer ${secret}`);
  beforeAll(async () => {
    shared = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '3' } });
  });
  beforeEach(async () => {
    const account = await shared.createAccount();
    app = { ...shared, ...account };
    expect((await getKey(app, app.key.hash)).status).toBe(200);
    for (const wrong of ['guess 1', 'guess-2', 'guess-3']) expectError(await guess(wrong), 401);
  });
  // The next test finds all attempts available again.
  afterEach(() => {
    shared.clock.advance(60_000);
  });
  afterAll(() => shared.close());

  it('receives the limit of failed authentications and the time to retry', async () => {
    const rejected = await guess();
    expectError(rejected, 429, /^Rate limit exceeded: 3 failed authentications a minute; try again in 20 s$/);
    expect(rejected.headers).toMatchObject({
      'retry-after': '20',
      'x-ratelimit-limit': '3',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(app.clock.now().getTime() + 20_000),
    });
    app.clock.advance(20_000);
    expectError(await guess(), 401);
    expectError(await guess(), 429);
  });

  it('is rejected on every route', async () => {
    expectError(await guess(), 429);
    expectError(await post(app, WEBHOOK, 'guess'), 429);
    expectError(await app.http.post('/api/v1/embeddings').set('authorization', 'Bearer guess').send({}), 429);
  });

  it('is admitted with a known key', async () => {
    expectError(await guess(), 429);
    expect((await getKey(app, app.key.hash)).status).toBe(200);
    expect((await post(app, WEBHOOK)).status).toBe(201);
  });

  it('is admitted with a valid key that was never used, despite concurrent failures', async () => {
    const guesses = Array.from({ length: 200 }, (_none, index) => guess(`another-${index}`));
    const { accountId, workspaceId } = app;
    const fresh = await app.createKey({ kind: 'management', accountId, workspaceId });
    expect((await getKey(app, app.key.hash, `Bearer ${fresh.secret}`)).status).toBe(200);
    for (const rejected of await Promise.all(guesses)) expectError(rejected, 429);
  });

  it('is admitted with such a key after its eviction from memory', async () => {
    // Every change of a key evicts it.
    const renamed = `UPDATE api_keys SET name = 'Renamed' WHERE kind = 'management' AND account_id = $1`;
    for (let count = 0; count < 3; count++) {
      await app.sql(renamed, [app.accountId]);
      await app.application.get(Notifications).catchUp();
      expect((await getKey(app, app.key.hash)).status).toBe(200);
    }
    expectError(await guess(), 429);
  });

  it('is rejected with a known key that was deleted', async () => {
    await app.sql('DELETE FROM api_key_secrets WHERE secret_hash = $1', [hashKeySecret(app.managementKey)]);
    await app.application.get(Notifications).catchUp();
    // The first look-up fails and counts as the fourth failure; the second one does not run.
    for (let count = 0; count < 2; count++) expectError(await getKey(app, app.key.hash), 429);
  });

  it('is rejected with a known key that was disabled', async () => {
    await app.sql(`UPDATE api_keys SET disabled = true WHERE kind = 'management' AND account_id = $1`, [
      app.accountId,
    ]);
    await eventually(
      async () => (await getKey(app, app.key.hash)).status,
      (status) => status === 429,
    );
  });

  it('receives 401 without a credential, which is no guess', async () => {
    expectError(await guess(), 429);
    for (let count = 0; count < 5; count++) expectError(await getKey(app, app.key.hash, null), 401);
  });
});

it('looks concurrent secrets up together', async () => {
  const app = await createTestApp();
  const query = jest.spyOn(pg.Client.prototype, 'query');
  try {
    const fresh = await app.createKey();
    const apiKeys = app.application.get(ApiKeysRepository);
    query.mockClear();
    const guesses = Array.from({ length: 399 }, (_none, index) => hashKeySecret(`guess ${index}`));
    const found = await Promise.all(
      [...guesses, hashKeySecret(fresh.secret)].map((hash) => apiKeys.findCaller(hash)),
    );
    expect(found.filter((caller) => caller !== null).map(({ key }) => key.id)).toEqual([fresh.record.id]);
    const lookUps = query.mock.calls.filter(([given]) => JSON.stringify(given).includes('api_key_secrets'));
    expect(lookUps).toHaveLength(2);
  } finally {
    query.mockRestore();
    await app.close();
  }
});

describe('an address behind a trusted proxy', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({
      environment: {
        RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '3',
        TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8',
      },
    });
  });
  afterAll(() => app.close());
  const from = (forwardedFor: string, secret: string) =>
    app.http
      .get(`/api/v1/keys/${app.key.hash}`)
      .set({ authorization: `Bearer ${secret}`, 'x-forwarded-for': forwardedFor });

  it('is the last one that is no proxy, for any hops that the caller adds', async () => {
    for (let count = 1; count <= 3; count++)
      expectError(await from(`6.6.6.${count}, 198.51.100.1, 10.0.0.9`, `guess ${count}`), 401);
    expectError(await from('6.6.6.4, 198.51.100.1', 'guess 4'), 429);
    expectError(await from('198.51.100.2', 'guess 5'), 401);
    expect((await from('198.51.100.1', app.managementKey)).status).toBe(200);
  });

  it("is written to the audit log; a malformed one is replaced by the proxy's", async () => {
    for (const [forwardedFor, address] of [
      ['6.6.6.6, 198.51.100.7', '198.51.100.7'],
      ['198.51.100.7, no address', '127.0.0.1'],
    ] as const) {
      const created = await app.http
        .post('/api/v1/keys')
        .set({ authorization: `Bearer ${app.managementKey}`, 'x-forwarded-for': forwardedFor })
        .set('x-request-id', address)
        .send({ name: address });
      expect(created.status).toBe(201);
      const [row] = await app.sql<{ address: string }>(
        'SELECT address FROM audit_log WHERE request_id = $1',
        [address],
      );
      expect(row?.address.replace('::ffff:', '')).toBe(address);
    }
  });
});
