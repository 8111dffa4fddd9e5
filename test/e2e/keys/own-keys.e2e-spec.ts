// The keys that developers make for themselves, within the own-key policy of their workspace.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OwnKeys } from '../../../src/keys/own-keys.js';
import { parseUsd } from '../../../src/domain/spend/money.js';
import { PeopleRepository } from '../../../src/persistence/people/people.repository.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { askAs, createPerson, setAccountRole, signInPerson } from '../../support/app/people.js';
import type { TestPerson } from '../../support/app/people.js';
import { eventually } from '../../support/eventually.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

interface KeyRecord extends Record<string, unknown> {
  readonly hash: string;
}
interface KeyAnswer {
  readonly data: KeyRecord;
  readonly key: string;
}

const DAY = 86_400_000;
const POLICY = {
  enabled: true,
  max_keys: 3,
  default_limit: 5,
  max_limit: 20,
  limit_reset: 'monthly',
  max_days: 30,
  include_byok_in_limit: true,
};
const REFUSED = 'The own-key policy of the workspace does not allow this';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0' } });
});
afterAll(() => app.close());

const policyPath = (): string => `/workspaces/${app.workspaceId}/own-key-policy`;
const setPolicy = (policy: object): Promise<unknown> =>
  askFor(200, app, 'put', policyPath(), { body: policy });
const developer = (): Promise<TestPerson> => createPerson(app, { account: 'developer' });
const inDays = (days: number): string => new Date(app.clock.now().getTime() + days * DAY).toISOString();
const keysOf = async (person: TestPerson): Promise<readonly KeyRecord[]> =>
  ((await askAs(person, app, 'get', '/keys')).body as { data: KeyRecord[] }).data;

async function create(person: TestPerson, body: object = {}): Promise<KeyAnswer> {
  const response = await askAs(person, app, 'post', '/keys', { body: { name: 'Mine', ...body } });
  if (response.status !== 201) throw new Error(response.text);
  return response.body as KeyAnswer;
}

describe('the own-key policy', () => {
  it('of a workspace without one allows no keys', async () => {
    expect(await askFor(200, app, 'get', policyPath())).toEqual({
      data: {
        workspace_id: app.workspaceId,
        enabled: false,
        max_keys: 5,
        default_limit: null,
        max_limit: null,
        limit_reset: null,
        max_days: null,
        include_byok_in_limit: false,
        updated_at: null,
      },
    });
    const response = await askAs(await developer(), app, 'post', '/keys', { body: { name: 'Mine' } });
    expectError(response, 403, `${REFUSED}: developers make no keys in this workspace`);
  });

  it('is replaced as a whole, by its slug as well, and recorded', async () => {
    const { data } = await askFor<{ data: object }>(200, app, 'put', '/workspaces/default/own-key-policy', {
      body: POLICY,
    });
    expect(data).toEqual({
      ...POLICY,
      workspace_id: app.workspaceId,
      updated_at: app.clock.now().toISOString(),
    });
    expect(await askFor(200, app, 'get', policyPath())).toEqual({ data });
    // A record that is sent back.
    expect(await askFor(200, app, 'put', policyPath(), { body: data })).toEqual({ data });
    const replaced = await askFor<{ data: object }>(200, app, 'put', policyPath(), {
      body: { enabled: true },
    });
    expect(replaced.data).toMatchObject({ max_keys: 5, max_limit: null, include_byok_in_limit: false });
    const audit = await askFor<{ data: object[] }>(200, app, 'get', '/audit?object_type=own_key_policy');
    // The record that was sent back is no change.
    expect(audit.data).toHaveLength(2);
    expect(audit.data).toContainEqual(
      expect.objectContaining({
        action: 'update',
        object_id: app.workspaceId,
        workspace_id: app.workspaceId,
        before: expect.objectContaining({ max_keys: 3 }),
        after: expect.objectContaining({ max_keys: 5 }),
      }),
    );
  });

  it.each([
    ['a default above the limit', { default_limit: 21 }, /default_limit/],
    ['no key', { max_keys: 0 }, /max_keys/],
    ['a day of nothing', { max_days: 0 }, /max_days/],
    ['an unknown interval', { limit_reset: 'hourly' }, /limit_reset/],
    ['another workspace', { workspace_id: '019a960b-d800-7000-8000-000000000000' }, /workspace_id/],
    ['an unknown member', { allowed_models: [] }, /allowed_models/],
  ])('does not accept %s', async (_name, change, problem) => {
    const response = await ask(app, 'put', policyPath(), { body: { ...POLICY, ...change } });
    expectError(response, 400, problem);
  });
});

describe('a developer', () => {
  beforeAll(async () => {
    await setPolicy(POLICY);
  });

  it('makes a key for himself, with the members of the policy', async () => {
    const person = await developer();
    const { data, key } = await create(person);
    expect(data).toMatchObject({
      creator_user_id: person.id,
      limit: 5,
      limit_reset: 'monthly',
      include_byok_in_limit: true,
      expires_at: inDays(30),
      is_management_key: false,
    });
    await askFor(200, app, 'get', '/key', { key });
    const [row] = await app.sql('SELECT ends_with_creator FROM api_keys WHERE hash = $1', [data.hash]);
    expect(row).toEqual({ ends_with_creator: true });
  });

  it('makes a key with the highest limit and his own name as the creator (V58)', async () => {
    const person = await developer();
    const { data } = await create(person, {
      limit: 20,
      limit_reset: 'monthly',
      include_byok_in_limit: true,
      expires_at: inDays(30),
      creator_user_id: person.id,
    });
    expect(data).toMatchObject({ limit: 20 });
  });

  it("makes no key with another's name, or without one (V56)", async () => {
    const person = await developer();
    const other = await developer();
    for (const creator of [other.id, 'user_1', null]) {
      const body = { name: 'Forged', creator_user_id: creator };
      expectError(await askAs(person, app, 'post', '/keys', { body }), 403, /creator_user_id/);
    }
    expect(await keysOf(person)).toEqual([]);
    expect(await keysOf(other)).toEqual([]);
  });

  it('makes no management key, and no role does', async () => {
    const body = { name: 'Strong', is_management_key: true };
    for (const account of ['developer', 'admin', 'owner'] as const) {
      const person = await createPerson(app, { account });
      expectError(await askAs(person, app, 'post', '/keys', { body }), 403, /is_management_key/);
    }
  });

  const BEYOND: readonly (readonly [name: string, body: object, status: number])[] = [
    ['a limit above the bound', { limit: 20.000001 }, 403],
    ['no limit', { limit: null }, 403],
    ['another reset', { limit_reset: 'daily' }, 403],
    ['no reset', { limit_reset: null }, 403],
    ['a limit without own provider keys', { include_byok_in_limit: false }, 403],
    ['an expiry after the last day', { expires_at: '2099-01-01T00:00:00Z' }, 403],
    ['no expiry', { expires_at: null }, 403],
  ];

  it.each(BEYOND)('makes no key with %s (V57)', async (_name, body, status) => {
    const person = await developer();
    const response = await askAs(person, app, 'post', '/keys', { body: { name: 'Mine', ...body } });
    expectError(response, status, new RegExp(Object.keys(body)[0] ?? ''));
    expect(await keysOf(person)).toEqual([]);
  });

  it.each(BEYOND)('changes no key to %s (V57)', async (_name, body, status) => {
    const person = await developer();
    const { data } = await create(person);
    expectError(await askAs(person, app, 'patch', `/keys/${data.hash}`, { body }), status);
    expect(await keysOf(person)).toEqual([data]);
  });

  it('sends no limit that is no number (V57)', async () => {
    const person = await developer();
    const send = (method: 'post' | 'patch', path: string) =>
      app.http[method](`/api/v1${path}`)
        .set({ cookie: person.cookie, 'sec-fetch-site': 'same-origin', 'x-signalbox-console': '1' })
        .set('content-type', 'application/json')
        .send('{"name":"Mine","limit":1e400}');
    expectError(await send('post', '/keys'), 400, /limit/);
    const { data } = await create(person);
    expectError(await send('patch', `/keys/${data.hash}`), 400, /limit/);
    expect(await keysOf(person)).toEqual([data]);
  });

  it('changes, rotates, disables and deletes his own key', async () => {
    const person = await developer();
    const { data, key } = await create(person);
    const path = `/keys/${data.hash}`;
    const changed = await askAs(person, app, 'patch', path, { body: { name: 'Renamed', limit: 7 } });
    expect([changed.status, changed.body.data]).toEqual([200, expect.objectContaining({ limit: 7 })]);
    const rotated = await askAs(person, app, 'post', `${path}/rotate`, { body: { grace_period_seconds: 0 } });
    expect(rotated.status).toBe(200);
    expectError(await ask(app, 'get', '/key', { key }), 401);
    expect((await askAs(person, app, 'patch', path, { body: { disabled: true } })).status).toBe(200);
    expect((await askAs(person, app, 'delete', path)).status).toBe(200);
    expectError(await askAs(person, app, 'get', path), 404);
  });

  it('gets 404 for keys of others and of none, and they stay as they are', async () => {
    const person = await developer();
    const other = await create(await developer());
    for (const hash of [other.data.hash, app.key.hash, 'ab'.repeat(32)]) {
      for (const [method, path, body] of [
        ['get', `/keys/${hash}`],
        ['patch', `/keys/${hash}`, { disabled: true }],
        ['delete', `/keys/${hash}`],
        ['post', `/keys/${hash}/rotate`, {}],
      ] as const)
        expectError(await askAs(person, app, method, path, body && { body }), 404, /no key has this hash/);
    }
    await askFor(200, app, 'get', '/key', { key: other.key });
    await askFor(200, app, 'get', '/key', { key: app.apiKey });
  });

  it('has no more keys than the policy allows, however many he asks for at once', async () => {
    const person = await developer();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => askAs(person, app, 'post', '/keys', { body: { name: 'Mine' } })),
    );
    expect(responses.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 201, 201, 409, 409, 409, 409, 409,
    ]);
    const [first] = await keysOf(person);
    expect((await askAs(person, app, 'delete', `/keys/${first?.hash}`)).status).toBe(200);
    await create(person);
  });

  it('keeps to a policy that was lowered at the next change and rotation (V57)', async () => {
    const person = await developer();
    const { data } = await create(person, { limit: 20 });
    const path = `/keys/${data.hash}`;
    await askAs(person, app, 'patch', path, { body: { disabled: true } });
    await setPolicy({ ...POLICY, max_limit: 10 });
    try {
      expectError(
        await askAs(person, app, 'post', `${path}/rotate`, { body: {} }),
        403,
        /limit: must be at most 10/,
      );
      expectError(await askAs(person, app, 'patch', path, { body: { disabled: false } }), 403, /limit/);
      // They raise nothing.
      expect((await askAs(person, app, 'patch', path, { body: { name: 'Kept' } })).status).toBe(200);
      expect((await askAs(person, app, 'patch', path, { body: { limit: 10 } })).status).toBe(200);
      expect((await askAs(person, app, 'patch', path, { body: { disabled: false } })).status).toBe(200);
      await setPolicy({ ...POLICY, enabled: false });
      expectError(await askAs(person, app, 'post', `${path}/rotate`, { body: {} }), 403, /make no keys/);
      expect((await askAs(person, app, 'delete', path)).status).toBe(200);
    } finally {
      await setPolicy(POLICY);
    }
  });

  it('lists only his own keys, with the right pages, by every order and state', async () => {
    const person = await developer();
    const mine = [await create(person), await create(person), await create(person)].map(
      ({ data }) => data.hash,
    );
    await create(await developer());
    for (const query of [
      '',
      '?all_workspaces=true',
      '?sort=name',
      '?sort=spend&all_workspaces=true',
      '?sort=last_used',
      '?state=unused',
      '?q=mine',
    ]) {
      const { body } = await askAs(person, app, 'get', `/keys${query}`);
      const hashes = (body as { data: KeyRecord[] }).data.map(({ hash }) => hash);
      expect([query, hashes.toSorted()]).toEqual([query, mine.toSorted()]);
    }
    const pages: string[] = [];
    for (const offset of [0, 1, 2, 3]) {
      const { body } = await askAs(person, app, 'get', `/keys?limit=1&offset=${offset}`);
      pages.push(...(body as { data: KeyRecord[] }).data.map(({ hash }) => hash));
    }
    expect(pages.toSorted()).toEqual(mine.toSorted());
  });

  it('owns the secret of a key from a management key once he has rotated it', async () => {
    const person = await developer();
    const { record } = await app.createKey({
      creatorUserId: person.id,
      limit: parseUsd('1'),
      limitReset: 'monthly',
      includeByokInLimit: true,
      expiresAt: new Date(inDays(1)),
    });
    const rotated = await askAs(person, app, 'post', `/keys/${record.hash}/rotate`, { body: {} });
    const { key } = rotated.body as KeyAnswer;
    await askFor(200, app, 'get', '/key', { key });
    await app.sql("UPDATE persons SET disabled_at = now() - interval '1 year' WHERE id = $1", [person.id]);
    expectError(await ask(app, 'get', '/key', { key }), 401);
  });
});

describe('an administrator', () => {
  it('makes keys for any creator or none, beyond the policy', async () => {
    const admin = await createPerson(app, { workspaces: { [app.workspaceId]: 'admin' } });
    const person = await developer();
    for (const creator of [null, 'user_1', person.id, admin.id]) {
      const { data } = await create(admin, { creator_user_id: creator, limit: 1_000 });
      expect(data).toMatchObject({ creator_user_id: creator, limit: 1_000, expires_at: null });
      const [row] = await app.sql<{ ends: boolean }>(
        'SELECT ends_with_creator AS ends FROM api_keys WHERE hash = $1',
        [data.hash],
      );
      // A key for a person ends with that one.
      expect(row?.ends).toBe(creator?.startsWith('usr_') ?? false);
    }
  });
});

describe('a person who leaves', () => {
  it('loses session and keys within 2 seconds; keys return with the person (V60)', async () => {
    await setPolicy(POLICY);
    const replica = await app.startReplica();
    const person = await developer();
    const { key } = await create(person);
    const statuses = (): Promise<number[]> =>
      Promise.all([app, replica].map(async (on) => (await ask(on, 'get', '/key', { key })).status));
    const sessions = (cookie: string): Promise<number[]> =>
      Promise.all(
        [app, replica].map(async (on) => (await askAs({ cookie }, on, 'get', '/workspaces')).status),
      );
    expect([...(await statuses()), ...(await sessions(person.cookie))]).toEqual([200, 200, 200, 200]);
    const disable = (sql: string): Promise<unknown> =>
      app.sql(`UPDATE persons SET disabled_at = ${sql} WHERE id = $1`, [person.id]);
    await disable("now() - interval '1 year'");
    await eventually(statuses, (ones) => ones.every((status) => status === 401));
    await eventually(
      () => sessions(person.cookie),
      (ones) => ones.every((status) => status === 401),
    );
    await disable('NULL');
    await eventually(statuses, (ones) => ones.every((status) => status === 200));
    expect(await sessions(person.cookie)).toEqual([401, 401]);
    const cookie = await signInPerson(app, { accountId: app.accountId, id: person.id });
    expect(await sessions(cookie)).toEqual([200, 200]);
    await replica.close();
  });
});

describe('the terms of a key that a program asks for', () => {
  it('follow the role of the person as it is now', async () => {
    await setPolicy(POLICY);
    const ownKeys = app.application.get(OwnKeys, { strict: false });
    const { id } = await developer();
    const bounded = async (wanted: object = {}) => {
      const person = await app.application.get(PeopleRepository).find(id);
      if (!person) throw new Error('no such person');
      return ownKeys.bounded(person, app.workspaceId, wanted);
    };
    expect(await bounded({ limit: parseUsd('2') })).toMatchObject({
      limit: parseUsd('2'),
      limitReset: 'monthly',
      includeByokInLimit: true,
      creatorUserId: id,
      endsWithCreator: true,
      quotas: [expect.objectContaining({ limit: 3, ownerId: id })],
    });
    await expect(bounded({ limit: null })).rejects.toMatchObject({ code: 'own_key_refused' });
    await setAccountRole(app, id, 'viewer');
    await expect(bounded()).rejects.toMatchObject({ code: 'role_refused' });
    await setAccountRole(app, id, 'admin');
    expect(await bounded({ limit: null })).toMatchObject({ limit: null, expiresAt: null, quotas: [] });
  });
});

describe('the own state of a person', () => {
  interface OwnMember {
    readonly data: {
      readonly user_id: string | null;
      readonly key_count: number;
      readonly budget: object | null;
    };
  }
  const own = async (person: TestPerson): Promise<OwnMember['data']> =>
    ((await askAs(person, app, 'get', '/organization/members/me')).body as OwnMember).data;

  it('counts the keys that the policy counts, and has the budget of all of them (R11)', async () => {
    await setPolicy(POLICY);
    const person = await developer();
    expect(await own(person)).toEqual({
      user_id: person.id,
      workspace_id: app.workspaceId,
      key_count: 0,
      budget: null,
    });
    await create(person);
    await app.createKey({ creatorUserId: person.id, expiresAt: new Date(app.clock.now().getTime() - 1) });
    await askFor(200, app, 'post', `/workspaces/${app.workspaceId}/members/add`, {
      body: { user_ids: [person.id] },
    });
    const guardrail = { name: 'Weekly', limit_usd: 2, reset_interval: 'weekly' };
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
      body: guardrail,
    });
    const assigned = { body: { member_user_ids: [person.id] } };
    await askFor(200, app, 'post', `/guardrails/${data.id}/assignments/members`, assigned);
    expect(await own(person)).toMatchObject({
      key_count: 1,
      budget: {
        guardrail_id: data.id,
        guardrail_name: 'Weekly',
        limit_source: 'guardrail',
        limit_window: 'weekly',
        limit_usd: 2,
        spend_usd: 0,
        remaining_usd: 2,
        resets_at: '2026-11-23T00:00:00.000Z',
      },
    });
    expect((await own(await developer())).budget).toBeNull();
  });

  it('of a management key without a creator is empty', async () => {
    const { data } = await askFor<OwnMember>(200, app, 'get', '/organization/members/me');
    expect(data).toMatchObject({ user_id: null, key_count: 0, budget: null });
  });
});
