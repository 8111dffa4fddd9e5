// The operations of /federation-policies.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { AUDIENCE, createPolicy, ISSUER, SUBJECT } from '../../support/federation/exchange.js';
import { createSigningKey } from '../../support/federation/issuer.js';
import type { SigningKey } from '../../support/federation/issuer.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

type Members = Readonly<Record<string, unknown>>;

let app: TestApp;
let key: SigningKey;
let good: Members;
beforeAll(async () => {
  app = await createTestApp();
  key = await createSigningKey('key-1');
  good = {
    name: 'Deployments',
    issuer: ISSUER,
    audience: AUDIENCE,
    subject: SUBJECT,
    api_key_hash: app.key.hash,
    jwks: { keys: [key.publicKey] },
  };
});
afterAll(() => app.close());

const create = (body: Members) => ask(app, 'post', '/federation-policies', { body });

describe('a federation policy', () => {
  it('is created, read, listed, changed, sent back and deleted, and the audit log has each change', async () => {
    const created = await createPolicy(app, [key], {
      claims: { environment: 'production', attempts: 1, public: false },
    });
    const { kty, crv, x, y, kid, alg, use } = key.publicKey;
    expect(created).toEqual({
      id: expect.any(String),
      workspace_id: app.workspaceId,
      name: 'Deployments',
      issuer: ISSUER,
      audience: AUDIENCE,
      subject: SUBJECT,
      claims: { environment: 'production', attempts: 1, public: false },
      api_key_hash: app.key.hash,
      max_ttl_seconds: 900,
      jwks: { keys: [{ kty, kid, alg, use, crv, x, y }] },
      jwks_url: null,
      enabled: true,
      created_at: app.clock.now().toISOString(),
      updated_at: null,
    });
    app.clock.advance(1_000);
    const path = `/federation-policies/${created.id}`;
    expect(await askFor(200, app, 'get', path)).toEqual({ data: created });
    const list = await askFor<{ data: unknown[]; total_count: number }>(
      200,
      app,
      'get',
      '/federation-policies',
    );
    expect(list.data).toContainEqual(created);
    const same = await askFor<{ data: Members }>(200, app, 'patch', path, { body: created });
    expect(same.data).toEqual(created);
    const { record } = await app.createKey();
    const changes = {
      name: 'Renamed',
      claims: {},
      api_key_hash: record.hash,
      max_ttl_seconds: 60,
      jwks_url: 'https://issuer.example.com/jwks',
      enabled: false,
    };
    const { data: changed } = await askFor<{ data: Members }>(200, app, 'patch', path, { body: changes });
    expect(changed).toEqual({
      ...created,
      ...changes,
      jwks: null,
      updated_at: app.clock.now().toISOString(),
    });
    app.clock.advance(1_000);
    expect(await askFor(200, app, 'delete', path)).toEqual({ deleted: true });
    expectError(await ask(app, 'get', path), 404);
    expectError(await ask(app, 'delete', path), 404);
    const { data: entries } = await askFor<{ data: Members[] }>(
      200,
      app,
      'get',
      `/audit?object_id=${created.id}`,
    );
    expect(entries.map(({ action, object_type: type }) => [action, type])).toEqual([
      ['delete', 'federation_policy'],
      ['update', 'federation_policy'],
      ['create', 'federation_policy'],
    ]);
  });

  it('exists 50 times in an account, also when all are created at once', async () => {
    const { accountId, managementKey, key: record } = await app.createAccount();
    const body = { ...good, api_key_hash: record.hash };
    const answers = await Promise.all(
      Array.from({ length: 52 }, () =>
        ask(app, 'post', '/federation-policies', { body, key: managementKey }),
      ),
    );
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    const [row] = await app.sql<{ count: string }>(
      'SELECT count(*) FROM federation_policies WHERE account_id = $1',
      [accountId],
    );
    expect(row?.count).toBe('50');
  });

  it('names an inference key of its account', async () => {
    const stranger = await app.createAccount();
    const { data: management } = await askFor<{ data: { hash: string } }>(201, app, 'post', '/keys', {
      body: { name: 'Admin', is_management_key: true },
    });
    expectError(
      await create({ ...good, api_key_hash: management.hash }),
      400,
      /must be the hash of an inference key$/,
    );
    expectError(
      await create({ ...good, api_key_hash: stranger.key.hash }),
      400,
      /api_key_hash: no key has this hash$/,
    );
  });

  it('is for management keys', async () => {
    expectError(await ask(app, 'post', '/federation-policies', { body: good, key: app.apiKey }), 403);
    expectError(await ask(app, 'get', '/federation-policies', { key: app.apiKey }), 403);
  });

  it.each<[Members, string]>([
    [{ name: '' }, 'name: must not be empty'],
    [{ issuer: '' }, 'issuer: must not be empty'],
    [{ issuer: 'x'.repeat(2_049) }, 'issuer: must have at most 2048 characters'],
    [{ audience: 7 }, 'audience: must be a string'],
    [{ subject: '*' }, 'subject: must have no *'],
    [{ subject: 'repo:org/app*' }, 'subject: must have no *'],
    [{ subject: 'repo:*/app:main' }, 'subject: must have no *'],
    [{ subject: 'repo:*/app:*' }, 'subject: must have no *'],
    [{ subject: 'repo:a:*'.slice(2) }, 'subject: must have no *'],
    [{ claims: { list: ['a'] } }, 'claims: must have texts, numbers or booleans'],
    [{ claims: { name: null } }, 'claims: must have texts, numbers or booleans'],
    [{ claims: { name: 'a\0' } }, 'claims: must have texts, numbers or booleans'],
    [
      { claims: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`claim${index}`, 1])) },
      'claims: must have at most 20 members',
    ],
    [{ api_key_hash: 'sesame' }, 'api_key_hash: must be 64 lower-case hexadecimal digits'],
    [{ max_ttl_seconds: 59 }, 'max_ttl_seconds: must be at least 60'],
    [{ max_ttl_seconds: 901 }, 'max_ttl_seconds: must be at most 900'],
    [{ jwks: null }, 'jwks_url: is required, unless jwks has the keys of the issuer'],
    [{ jwks: {} }, 'jwks: must have a list of keys'],
    [{ jwks: { keys: [] } }, 'jwks: must have 1 to 100 keys'],
    [{ jwks: { keys: ['x'] } }, 'jwks: must have a list of keys'],
    [{ jwks: { keys: [{ kty: 'oct', kid: 'a', k: 'c2VjcmV0' }] } }, 'jwks: must have public keys only'],
    [{ jwks: { keys: [{ kty: 'EC', kid: 'a', d: 'c2VjcmV0' }] } }, 'jwks: must have public keys only'],
    [{ jwks: { keys: [{ kty: 'EC' }] } }, 'jwks: must have keys of the types'],
    [{ jwks_url: 'https://issuer.example.com/jwks' }, 'jwks: must be omitted beside jwks_url'],
    [{ enabled: 'yes' }, 'enabled: must be a boolean'],
    [{ secret: 'x' }, 'secret: is not a member of this object'],
  ])('with %j is refused', async (change, problem) => {
    expect(expectError(await create({ ...good, ...change }), 400)).toContain(problem);
  });

  it('with a kid twice is refused, and without keys is incomplete', async () => {
    const keys = [key.publicKey, key.publicKey];
    expect(expectError(await create({ ...good, jwks: { keys } }), 400)).toContain('must not repeat a kid');
    const { id } = await createPolicy(app, [key]);
    const response = await ask(app, 'patch', `/federation-policies/${id}`, { body: { jwks: null } });
    expect(expectError(response, 400)).toContain('jwks_url: is required');
  });
});
