// POST /keys and GET /keys: new keys, and pages of them.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { freshRecord } from '../../support/requests/get-key.js';

interface CreatedKey {
  readonly data: { readonly hash: string } & Readonly<Record<string, unknown>>;
  readonly key: string;
}
interface ListedKeys {
  readonly data: readonly { readonly hash: string; readonly name: string }[];
}

const PARTNER_SECRET = 'partner-0123456789-abcdefghijklmnop';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const create = (body: object): Promise<CreatedKey> => askFor(201, app, 'post', '/keys', { body });
const statusOf = async (secret: string): Promise<number> =>
  (await ask(app, 'get', '/key', { key: secret })).status;

describe('a new key', () => {
  it('has a secret that is shown once and works, and a record', async () => {
    const { data, key } = await create({ name: 'Production' });
    expect(key).toMatch(/^sk-sb-v1-[0-9a-f]{64}$/);
    expect(data).toEqual(freshRecord(app, key, 'Production'));
    expect(await statusOf(key)).toBe(200);
    const read = await ask(app, 'get', `/keys/${data.hash}`);
    expect(read.body).toEqual({ data });
    expect(read.text).not.toContain(key);
    const stored = await app.sql(`SELECT k::text || s::text AS text FROM api_keys k
      JOIN api_key_secrets s ON s.api_key_id = k.id WHERE k.hash = '${data.hash}'`);
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  it('has every requested option', async () => {
    const workspaceId = randomUUID();
    await app.sql('INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, $3, $3)', [
      workspaceId,
      app.accountId,
      'options',
    ]);
    const options = {
      name: 'Options',
      limit: 12.5,
      limit_reset: 'weekly',
      include_byok_in_limit: true,
      embedding_cache: true,
      creator_user_id: 'user-1',
      workspace_id: workspaceId,
    };
    const { data } = await create({
      ...options,
      expires_at: '2027-01-31T12:00:00.5Z',
      external: { user: 'partner-user' },
    });
    expect(data).toMatchObject({
      ...options,
      limit_remaining: 12.5,
      expires_at: '2027-01-31T12:00:00.500Z',
      external_user: 'partner-user',
    });
  });

  it("also accepts the partner's own secret, which no response contains", async () => {
    const response = await ask(app, 'post', '/keys', {
      body: { name: 'Partner', external: { user: 'u', api_key: PARTNER_SECRET } },
    });
    expect(response.status).toBe(201);
    expect(response.text).not.toContain(PARTNER_SECRET);
    expect(await statusOf(PARTNER_SECRET)).toBe(200);
    expect(await statusOf((response.body as CreatedKey).key)).toBe(200);
    expectError(
      await ask(app, 'post', '/keys', {
        body: { name: 'Partner', external: { user: 'v', api_key: PARTNER_SECRET } },
      }),
      400,
      'Invalid request parameters: external.api_key: must be a key of its own',
    );
  });

  it('has the intended amount, without digits of floating-point arithmetic', async () => {
    expect((await create({ name: 'n', limit: 0.1 + 0.2 })).data['limit']).toBe(0.3);
  });

  it('may be a management key, which opens the account, makes no calls, and ends with its expiry', async () => {
    const { data, key } = await create({
      name: 'Ada',
      is_management_key: true,
      expires_at: '2026-11-19T12:00:00Z',
    });
    expect(data).toMatchObject({
      is_management_key: true,
      limit: null,
      expires_at: '2026-11-19T12:00:00.000Z',
    });
    expect((await ask(app, 'get', '/keys', { key })).status).toBe(200);
    expect((await embed(app, { model: SMALL, input: 'a' }, key)).status).toBe(401);
    const { data: entries } = await askFor<{ data: { object_id: string; after: object }[] }>(
      200,
      app,
      'get',
      `/audit?object_type=api_key&action=create&object_id=${data.hash}`,
    );
    expect(entries).toMatchObject([{ object_id: data.hash, after: { is_management_key: true } }]);
    const now = app.clock.now();
    app.clock.set('2026-11-19T12:00:01Z');
    expect((await ask(app, 'get', '/keys', { key })).status).toBe(401);
    app.clock.set(now.toISOString());
  });

  it('can be created with a trailing slash in the path', async () => {
    expect((await ask(app, 'post', '/keys/', { body: { name: 'n' } })).status).toBe(201);
  });

  it.each([
    [{}, 'name: must be a string'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 7 }, 'name: must be a string'],
    [{ name: 'a\0b' }, 'name: must not hold NUL or half a surrogate pair'],
    [{ name: 'x'.repeat(1_001) }, 'name: must have at most 1000 characters'],
    [{ name: 'n', limit: '1' }, 'limit: must be a number or null'],
    [{ name: 'n', limit: -1 }, 'limit: must not be negative'],
    [{ name: 'n', limit: 1e10 }, 'limit: must be at most 1000000000'],
    [{ name: 'n', limit: 1e-13 }, 'limit: must be 0 or at least 1e-12'],
    [{ name: 'n', limit_reset: 'yearly' }, 'limit_reset: must be one of daily, weekly, monthly, or null'],
    [{ name: 'n', include_byok_in_limit: null }, 'include_byok_in_limit: must be a boolean'],
    [{ name: 'n', embedding_cache: 1 }, 'embedding_cache: must be a boolean'],
    [{ name: 'n', creator_user_id: '' }, 'creator_user_id: must not be empty'],
    [{ name: 'n', workspace_id: 'x' }, 'workspace_id: must be a UUID'],
    [{ name: 'n', workspace_id: randomUUID() }, 'workspace_id: no such workspace'],
    [{ name: 'n', external: 'u' }, 'external: must be an object'],
    [{ name: 'n', external: {} }, 'external.user: must be a string'],
    [
      { name: 'n', external: { user: 'u', api_key: 'short' } },
      'external.api_key: must have 32 to 512 visible ASCII characters and not begin with sk-sb-',
    ],
    [{ name: 'n', disabled: 'yes' }, 'disabled: must be a boolean'],
    [{ name: 'n', is_management_key: true, limit: 1 }, 'limit: is for keys that make calls; omit it'],
    [
      { name: 'n', is_management_key: true, external: { user: 'u', api_key: PARTNER_SECRET } },
      'external: is for keys that make calls; omit it',
    ],
    [{ name: 'n', is_management_key: 1 }, 'is_management_key: must be a boolean'],
    [{ name: 'n', kind: 'management' }, 'kind: is not a member of this object'],
    [{ name: 'n', expires_at: '2026-11-18T12:00:00Z' }, 'expires_at: must be in the future'],
  ])('returns 400 for %j', async (body, detail) => {
    expectError(await ask(app, 'post', '/keys', { body }), 400, `Invalid request parameters: ${detail}`);
  });

  it.each([
    '2027-01-31T12:00Z',
    '2027-01-31',
    '2027-01-31T12:00:00',
    '2027-01-31T12:00:00+01:00',
    '2027-02-30T12:00:00Z',
    '2027-01-31T24:00:00Z',
    '2027-W05-1T12:00:00Z',
    'tomorrow',
    1_800_000_000,
  ])('returns 400 for the expiry %s', async (expiresAt) => {
    expectError(
      await ask(app, 'post', '/keys', { body: { name: 'n', expires_at: expiresAt } }),
      400,
      /: expires_at: must be a time in UTC with seconds/,
    );
  });
});

describe('a list', () => {
  const list = async (query = ''): Promise<string[]> => {
    const { data } = await askFor<ListedKeys>(200, app, 'get', `/keys${query}`);
    return data.map(({ name }) => name);
  };

  it('contains all 250 keys of a workspace on three pages, newest first, each once', async () => {
    const workspaceId = randomUUID();
    await app.sql('INSERT INTO workspaces (id, account_id, name, slug) VALUES ($1, $2, $3, $3)', [
      workspaceId,
      app.accountId,
      'crowded',
    ]);
    await app.sql(
      `INSERT INTO api_keys (id, account_id, workspace_id, hash, kind, name, label, created_at)
       SELECT gen_random_uuid(), $1, $2, encode(sha256(('crowded' || n)::bytea), 'hex'), 'inference', n::text, 'l',
         now() + n * interval '1 second' FROM generate_series(1, 250) AS n`,
      [app.accountId, workspaceId],
    );
    const pages = await Promise.all(
      [0, 100, 200, 300].map((offset) => list(`?workspace_id=${workspaceId}&offset=${offset}`)),
    );
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 50, 0]);
    expect(pages.flat()).toEqual(Array.from({ length: 250 }, (_value, index) => String(250 - index)));
  });

  it('omits disabled keys unless they are requested, and deleted ones always', async () => {
    const { accountId, workspaceId, managementKey } = await app.createAccount();
    const one = { key: managementKey };
    const createIn = async (name: string): Promise<string> => {
      const { data } = await askFor<CreatedKey>(201, app, 'post', '/keys', { ...one, body: { name } });
      return data.hash;
    };
    const [disabled, deleted] = [await createIn('disabled'), await createIn('deleted')];
    await askFor(200, app, 'patch', `/keys/${disabled}`, { ...one, body: { disabled: true } });
    await askFor(200, app, 'delete', `/keys/${deleted}`, one);
    const names = async (query: string): Promise<string[]> => {
      const { data } = await askFor<ListedKeys>(200, app, 'get', `/keys${query}`, one);
      return data.map(({ name }) => name).sort();
    };
    expect(await names('')).toEqual(['Test key', 'Test key']);
    expect(await names('?include_disabled=false')).toEqual(['Test key', 'Test key']);
    expect(await names('?include_disabled=true')).toEqual(['Test key', 'Test key', 'disabled']);
    expect(await names(`?include_disabled=true&workspace_id=${workspaceId}`)).toHaveLength(3);
    expect(await names('?include_disabled=true&limit=2')).toHaveLength(2);
    expect(accountId).not.toBe(app.accountId);
  });

  it.each([
    ['offset=-1', 'offset: must not be negative'],
    ['offset=x', 'offset: must be a whole number'],
    ['include_disabled=yes', 'include_disabled: must be true or false'],
    ['limit=0', 'limit: must be from 1 to 100'],
    ['limit=101', 'limit: must be from 1 to 100'],
    ['page=2', 'page: is not a member of this object'],
    [`workspace_id=${randomUUID()}`, 'workspace_id: no such workspace'],
  ])('returns 400 for %s', async (query, detail) => {
    expectError(await ask(app, 'get', `/keys?${query}`), 400, `Invalid request parameters: ${detail}`);
  });
});
