// The hash of any valid secret names its key: after rotations, and for a partner's own secret.
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

interface NewKey {
  readonly data: { readonly hash: string; readonly name: string };
  readonly key: string;
}

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const create = (body: object = {}) =>
  askFor<NewKey>(201, app, 'post', '/keys', { body: { name: 'A key', ...body } });
const rotate = (hash: string, seconds: number) =>
  askFor<NewKey>(200, app, 'post', `/keys/${hash}/rotate`, { body: { grace_period_seconds: seconds } });

async function rotated(seconds = 60): Promise<{ readonly record: string; readonly current: string }> {
  const { data } = await create();
  const { key } = await rotate(data.hash, seconds);
  return { record: data.hash, current: hashOf(key) };
}

describe('the hash of the new secret', () => {
  it('reads, changes, rotates and deletes the record, which keeps its first hash', async () => {
    const { record, current } = await rotated();
    expect(await askFor(200, app, 'get', `/keys/${current}`)).toMatchObject({ data: { hash: record } });
    expect(await askFor(200, app, 'patch', `/keys/${current}`, { body: { name: 'Renamed' } })).toMatchObject({
      data: { hash: record, name: 'Renamed' },
    });
    const again = await rotate(current, 0);
    expect(again.data.hash).toBe(record);
    expectError(await ask(app, 'get', `/keys/${current}`), 404);
    expect(await askFor(200, app, 'delete', `/keys/${hashOf(again.key)}`)).toEqual({ deleted: true });
    expectError(await ask(app, 'get', `/keys/${record}`), 404);
    expectError(await ask(app, 'get', `/keys/${hashOf(again.key)}`), 404);
  });

  it('is stored in lists as the hash of the record', async () => {
    const { record, current } = await rotated();
    const hashes = [current, record];
    const destination = await askFor<{ data: { id: string } }>(
      201,
      app,
      'post',
      '/observability/destinations',
      {
        body: { ...WEBHOOK, api_key_hashes: hashes },
      },
    );
    expect(destination).toMatchObject({ data: { api_key_hashes: [record] } });
    const path = `/observability/destinations/${destination.data.id}`;
    expect(await askFor(200, app, 'patch', path, { body: { api_key_hashes: [current] } })).toMatchObject({
      data: { api_key_hashes: [record] },
    });
    const credential = { provider: 'openai', key: 'own-key-123456', allowed_api_key_hashes: hashes };
    expect(await askFor(201, app, 'post', '/byok', { body: credential })).toMatchObject({
      data: { allowed_api_key_hashes: [record] },
    });
  });

  it('filters activity, analytics and the audit log', async () => {
    const { record, current } = await rotated();
    expect(await askFor(200, app, 'get', `/activity?api_key_hash=${current}`)).toMatchObject({ data: [] });
    const filters = [{ field: 'api_key_id', operator: 'eq', value: current }];
    const found = await askFor(200, app, 'post', '/analytics/query', {
      body: { metrics: ['request_count'], filters },
    });
    expect(JSON.stringify(found)).not.toContain('no such key');
    const entries = async (hash: string) => {
      const { data } = await askFor<{ data: { id: string }[] }>(200, app, 'get', `/audit?object_id=${hash}`);
      return data.map(({ id }) => id);
    };
    expect(await entries(current)).toEqual(await entries(record));
    expect(await entries(current)).toHaveLength(2);
  });

  it("finds nothing for another account, like a stranger's hash", async () => {
    const { current } = await rotated();
    const stranger = await app.createAccount();
    const as = { key: stranger.managementKey };
    expectError(await ask(app, 'get', `/keys/${current}`, as), 404);
    expectError(await ask(app, 'delete', `/keys/${current}`, as), 404);
    const body = { ...WEBHOOK, api_key_hashes: [current] };
    expect(
      expectError(await ask(app, 'post', '/observability/destinations', { ...as, body }), 400),
    ).toContain(`api_key_hashes: no such key: ${current}`);
  });
});

describe('the hash of a replaced secret', () => {
  it('names its key during the grace period only', async () => {
    const { record, current } = await rotated();
    await rotate(record, 60);
    await askFor(200, app, 'get', `/keys/${current}`);
    app.clock.advance(61_000);
    expectError(await ask(app, 'get', `/keys/${current}`), 404);
    await askFor(200, app, 'get', `/keys/${record}`);
  });
});

describe("the hash of a partner's secret", () => {
  it('names its key', async () => {
    const secret = randomBytes(24).toString('hex');
    const { data } = await create({ external: { user: 'u-1', api_key: secret } });
    expect(await askFor(200, app, 'get', `/keys/${hashOf(secret)}`)).toMatchObject({
      data: { hash: data.hash, external_user: 'u-1' },
    });
  });
});

describe('GET /auth/key', () => {
  it('answers like GET /key', async () => {
    for (const key of [app.apiKey, app.managementKey])
      expect(await askFor(200, app, 'get', '/auth/key', { key })).toEqual(
        await askFor(200, app, 'get', '/key', { key }),
      );
    expectError(await app.http.get('/api/v1/auth/key'), 401, 'Missing Authentication header');
    expectError(await ask(app, 'get', '/auth/key', { key: 'wrong' }), 401);
  });
});

describe('a secret that is no longer valid', () => {
  const statusOf = async (secret: string): Promise<number> =>
    (await app.http.get('/api/v1/key').set('Authorization', `Bearer ${secret}`)).status;
  const ends = {
    'by rotation': ({ data }: NewKey) => rotate(data.hash, 0),
    'by deletion': ({ data }: NewKey) => askFor(200, app, 'delete', `/keys/${data.hash}`),
  };

  it.each(Object.entries(ends))('of this service cannot be chosen, %s', async (_name, end) => {
    const created = await create();
    await end(created);
    const { managementKey } = await app.createAccount();
    const body = { name: 'Claimed', external: { user: 'u', api_key: created.key } };
    for (const key of [managementKey, app.managementKey])
      expectError(
        await ask(app, 'post', '/keys', { body, key }),
        400,
        /external.api_key: .*not begin with sk-sb-/,
      );
    expect(await statusOf(created.key)).toBe(401);
  });

  it.each(Object.entries(ends))(
    'of a partner can be chosen again by its account alone, %s',
    async (_name, end) => {
      const secret = randomBytes(32).toString('hex');
      const body = { name: 'Partner', external: { user: 'u', api_key: secret } };
      await end(await create(body));
      expect(await statusOf(secret)).toBe(401);
      const { managementKey } = await app.createAccount();
      expectError(
        await ask(app, 'post', '/keys', { body, key: managementKey }),
        400,
        /must be a key of its own/,
      );
      expect(await statusOf(secret)).toBe(401);
      await create(body);
      expect(await statusOf(secret)).toBe(200);
    },
  );
});
