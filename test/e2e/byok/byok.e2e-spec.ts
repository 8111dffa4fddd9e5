// /byok: create, list, get, update, rotate, delete.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import type { TestApp } from '../../support/app/app.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

interface Credential {
  readonly id: string;
  readonly [member: string]: unknown;
}

let setup: ByokSetup;
let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  setup = await startWithKeys();
  app = setup.app;
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

const KEY = 'sk-own-0123456789-abcd';
const IS_MASK = 'key: is a mask, which records show in place of a secret; send the secret itself';

async function createCredential(body: object = {}): Promise<Credential> {
  const sent = { provider: 'openai', key: KEY, disabled: true, ...body };
  return (await askFor<{ data: Credential }>(201, app, 'post', '/byok', { body: sent })).data;
}

describe('an allowed key of the account that is deleted', () => {
  it('stays in the list until the list changes, and does not prevent changes', async () => {
    const [gone, kept] = [(await app.createKey()).record.hash, (await app.createKey()).record.hash];
    const { id } = await createCredential({ allowed_api_key_hashes: [gone] });
    await askFor(200, app, 'delete', `/keys/${gone}`);
    const body = { allowed_api_key_hashes: [gone, kept] };
    const { data } = await askFor<{ data: Credential }>(200, app, 'patch', `/byok/${id}`, { body });
    expect(data['allowed_api_key_hashes']).toEqual([gone, kept]);
    await askFor(200, app, 'patch', `/byok/${id}`, { body: { allowed_api_key_hashes: [kept] } });
    const again = await ask(app, 'patch', `/byok/${id}`, { body });
    expect(expectError(again, 400)).toContain(`no such key: ${gone}`);
  });
});

describe('POST /byok', () => {
  it('returns the record without the key, which is stored encrypted and missing in the audit log', async () => {
    const credential = await createCredential();
    expect(credential).toEqual({
      id: expect.any(String),
      workspace_id: app.workspaceId,
      provider: 'openai',
      name: null,
      label: 'sk-o...abcd',
      disabled: true,
      is_fallback: false,
      is_required: false,
      is_byok_only: false,
      sort_order: 0,
      allowed_models: null,
      allowed_api_key_hashes: null,
      allowed_user_ids: null,
      declared_zdr: null,
      created_at: app.clock.now().toISOString(),
    });
    const stored = await app.sql(
      `SELECT row_to_json(c)::text || encode(c.ciphertext, 'escape') AS text FROM provider_credentials c
       UNION ALL SELECT row_to_json(a)::text FROM audit_log a`,
    );
    expect(JSON.stringify(stored)).toContain(credential.id);
    expect(JSON.stringify(stored)).not.toContain(KEY);
  });

  it('stores every setting', async () => {
    const settings = {
      name: 'Mine',
      is_required: true,
      is_byok_only: true,
      sort_order: 7,
      allowed_models: [SMALL],
      allowed_api_key_hashes: [app.key.hash],
      allowed_user_ids: ['user_1'],
      declared_zdr: false,
    };
    expect(await createCredential(settings)).toMatchObject(settings);
  });

  it.each([
    ['no key', { key: undefined }, 'key: must be a string'],
    ['an empty key', { key: '' }, 'key: must not be empty'],
    ...[
      `${KEY}\n`,
      ` ${KEY}`,
      `${KEY} `,
      'sk-own-ключ-0123',
      'sk-own\u20280123',
      'sk-own-\t0123',
      'sk-ówn',
    ].map((key): [string, object, string] => [
      `the key ${JSON.stringify(key)}`,
      { key },
      'key: must hold printable ASCII characters alone',
    ]),
    ...['sk-o...abcd', 'abcd...wxyz', 'sk-sb-v1-0e6...1c96', '****', '********', 'Bearer sk-o...abcd'].map(
      (key): [string, object, string] => [`the mask ${key}`, { key }, IS_MASK],
    ),
    ['an unknown provider', { provider: 'no-such-provider' }, 'provider: must be one of openai'],
    ['a provider without keys', { provider: 'local' }, 'provider: must be one of openai'],
    ['an unknown member', { labell: 'x' }, 'labell: is not a member of this object'],
    ['an empty list', { allowed_models: [] }, 'allowed_models: must have at least 1 element'],
    ['a malformed hash', { allowed_api_key_hashes: ['AB'] }, 'must hold key hashes of 64 lower-case'],
    [
      '101 hashes',
      { allowed_api_key_hashes: Array.from({ length: 101 }, () => 'a'.repeat(64)) },
      'at most 100',
    ],
    ['an unknown key', { allowed_api_key_hashes: ['a'.repeat(64)] }, `no such key: ${'a'.repeat(64)}`],
    ['a contradiction', { is_fallback: true, is_byok_only: true }, 'cannot be combined with is_byok_only'],
    [
      'no workspace of the account',
      { workspace_id: '019a960b-d800-7000-8000-000000000000' },
      'no such workspace',
    ],
  ])('returns 400 for %s', async (_name, body, message) => {
    const response = await ask(app, 'post', '/byok', { body: { provider: 'openai', key: KEY, ...body } });
    expect(expectError(response, 400)).toContain(message);
  });
});

describe('PATCH /byok/{id}', () => {
  it('keeps omitted members and clears members that are null', async () => {
    const credential = await createCredential({
      name: 'Mine',
      allowed_user_ids: ['user_1'],
      declared_zdr: true,
    });
    const path = `/byok/${credential.id}`;
    expect(await askFor(200, app, 'patch', path, { body: { sort_order: 3 } })).toEqual({
      data: { ...credential, sort_order: 3 },
    });
    const cleared = { name: null, allowed_user_ids: null, declared_zdr: null };
    expect(await askFor(200, app, 'patch', path, { body: cleared })).toEqual({
      data: { ...credential, sort_order: 3, ...cleared },
    });
    expect(await askFor(200, app, 'get', path)).toEqual({
      data: { ...credential, sort_order: 3, ...cleared },
    });
  });

  it('changes and records nothing for an empty body', async () => {
    const credential = await createCredential();
    const path = `/byok/${credential.id}`;
    expect(await askFor(200, app, 'patch', path, { body: {} })).toEqual({ data: credential });
    expect(await app.sql('SELECT action FROM audit_log WHERE object_id = $1', [credential.id])).toEqual([
      { action: 'create' },
    ]);
    const other = { key: (await app.createAccount()).managementKey, body: {} };
    expectError(await ask(app, 'patch', path, other), 404);
  });

  it('accepts an id in capitals for a new key, which calls can use', async () => {
    const { id } = await createCredential({ disabled: false });
    const body = { key: 'sk-own-by-capitals' };
    await askFor(200, app, 'patch', `/byok/${id.toUpperCase()}`, { body });
    const { usage } = (await embed(app, { model: SMALL, input: 'hello' })).body;
    expect([usage.is_byok, setup.takeKeys().at(-1)]).toEqual([true, 'sk-own-by-capitals']);
    await askFor(200, app, 'delete', `/byok/${id.toUpperCase()}`);
  });

  it('rejects the mask of the record as its key, and calls keep the stored key', async () => {
    const { id, label } = await createCredential({ disabled: false });
    for (const key of [label, '****']) {
      const response = await ask(app, 'patch', `/byok/${id}`, { body: { key, name: 'New' } });
      expectError(response, 400, `Invalid request parameters: ${IS_MASK}`);
    }
    expect(await askFor(200, app, 'get', `/byok/${id}`)).toMatchObject({ data: { name: null, label } });
    await embed(app, { model: SMALL, input: 'masks' });
    expect(setup.takeKeys().at(-1)).toBe(KEY);
    await askFor(200, app, 'delete', `/byok/${id}`);
  });

  it('rejects one of two concurrent changes that contradict each other', async () => {
    const { id } = await createCredential();
    const answers = await Promise.all(
      [{ is_fallback: true }, { is_byok_only: true }].map((body) =>
        ask(app, 'patch', `/byok/${id}`, { body }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });
});

it('creation, rotation, disabling and deletion take effect on every replica without a restart', async () => {
  const expectKey = async (key: string): Promise<void> => {
    for (const one of [app, replica]) {
      await eventually(
        async () => {
          await embed(one, { model: SMALL, input: 'hello', dimensions: 2 }, app.apiKey);
          return setup.takeKeys().join();
        },
        (keys) => keys === key,
      );
    }
  };
  await expectKey(SHARED_KEY);
  const { id } = await createCredential({ disabled: false });
  await expectKey(KEY);
  const rotated = await askFor<{ data: Credential }>(200, app, 'patch', `/byok/${id}`, {
    body: { key: 'sk-own-after-rotation' },
  });
  expect(rotated.data).toMatchObject({ id, label: 'sk-o...tion' });
  await expectKey('sk-own-after-rotation');
  await askFor(200, app, 'patch', `/byok/${id}`, { body: { disabled: true } });
  await expectKey(SHARED_KEY);
  await askFor(200, app, 'patch', `/byok/${id}`, { body: { disabled: false } });
  await expectKey('sk-own-after-rotation');
  expect(await askFor(200, app, 'delete', `/byok/${id}`)).toEqual({ deleted: true });
  await expectKey(SHARED_KEY);
  const [row] = await app.sql<{ ciphertext: Buffer }>(
    'SELECT ciphertext FROM provider_credentials WHERE id = $1',
    [id],
  );
  expect(row!.ciphertext).toHaveLength(0);
  for (const method of ['get', 'delete'] as const) expectError(await ask(app, method, `/byok/${id}`), 404);
  const actions = await app.sql('SELECT action FROM audit_log WHERE object_id = $1 ORDER BY action', [id]);
  expect(actions.map(({ action }) => String(action))).toEqual([
    'create',
    'delete',
    'rotate',
    'update',
    'update',
  ]);
});

describe('GET /byok', () => {
  it('lists credentials in the order of use, page by page, and by provider', async () => {
    const { data: workspace } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'List', slug: 'list' },
    });
    const made: string[] = [];
    for (const [provider, order] of [
      ['openai', 2],
      ['azure', 1],
      ['openai', 0],
    ] as const) {
      const { id } = await createCredential({ provider, sort_order: order, workspace_id: workspace.id });
      made.unshift(id);
    }
    const list = (query: string) =>
      askFor<{ data: Credential[]; total_count: number }>(
        200,
        app,
        'get',
        `/byok?workspace_id=${workspace.id}${query}`,
      );
    const ids = ({ data }: { data: Credential[] }) => data.map(({ id }) => id);
    expect(ids(await list(''))).toEqual(made);
    expect(ids(await list('&limit=1&offset=1'))).toEqual([made[1]]);
    expect(ids(await list('&provider=openai'))).toEqual([made[0], made[2]]);
    expect(await list('&offset=3')).toEqual({ data: [], total_count: 3 });
  });

  it.each([
    ['limit=101', 'limit: must be from 1 to 100'],
    ['offset=-1', 'offset: must not be negative'],
    ['sort=name', 'sort: is not a member of this object'],
    ['provider=no-such-provider', 'provider: must be one of openai'],
  ])('returns 400 for %s', async (query, message) => {
    expect(expectError(await ask(app, 'get', `/byok?${query}`), 400)).toContain(message);
  });
});
