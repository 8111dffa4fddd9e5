// The reach of a role: the objects of its workspaces, own keys, and nothing that a route forgets.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defaultGuardrailId } from '../../../src/domain/guardrails/guardrail.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestAccount, TestApp, TestKey } from '../../support/app/app.js';
import { CHANGE } from '../../support/app/console.js';
import { askAs, createPerson, setAccountRole } from '../../support/app/people.js';
import type { Roles, TestPerson } from '../../support/app/people.js';
import { eventually } from '../../support/eventually.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { WEBHOOK } from '../../support/requests/create-destination.js';
import { expectError } from '../../support/requests/error-shape.js';

interface Created {
  readonly data: { readonly id: string };
}
interface Listed {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly total_count?: number;
}

const REFUSED = /^Your role does not allow this operation/;

let app: TestApp;
let workspace: string;
/** Objects of the default workspace, of the other one, and of the account. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  app = await createTestApp({
    environment: { RATE_LIMIT_MANAGEMENT_PER_MINUTE: '0', RATE_LIMIT_CHANGES_PER_MINUTE: '0' },
  });
  const make = async (path: string, body: object): Promise<string> =>
    (await askFor<Created>(201, app, 'post', path, { body })).data.id;
  workspace = await make('/workspaces', { name: 'Other', slug: 'other' });
  for (const [name, id] of [
    ['default', app.workspaceId],
    ['other', workspace],
  ] as const) {
    const workspace_id = id;
    ids[`destination of ${name}`] = await make('/observability/destinations', { ...WEBHOOK, workspace_id });
    ids[`credential of ${name}`] = await make('/byok', {
      provider: 'openai',
      key: 'key-of-openai',
      workspace_id,
    });
    ids[`guardrail of ${name}`] = await make('/guardrails', { name, workspace_id });
    ids[`notification of ${name}`] = await make('/notifications', {
      name,
      workspace_id,
      config: { url: 'https://example.com/alerts' },
    });
    await askFor(200, app, 'patch', `/guardrails/${defaultGuardrailId(id)}`, {
      body: { name: `Default of ${name}` },
    });
  }
  ids['notification of the account'] = await make('/notifications', {
    name: 'Account',
    config: { url: 'https://example.com/alerts' },
  });
});
afterAll(() => app.close());

const person = (roles: Roles): Promise<TestPerson> => createPerson(app, roles);
const adminOfOther = (): Promise<TestPerson> => person({ workspaces: { [workspace]: 'admin' } });
async function list(one: TestPerson, path: string): Promise<Listed> {
  const response = await askAs(one, app, 'get', path);
  if (response.status !== 200) throw new Error(`${path}: ${response.text}`);
  return response.body as Listed;
}

describe('a list', () => {
  it('has only workspaces within reach, with the right count and pages', async () => {
    const admin = await adminOfOther();
    const { data, total_count: total } = await list(admin, '/workspaces');
    expect([data.map(({ id }) => id), total]).toEqual([[workspace], 1]);
    expect(await list(admin, '/workspaces?offset=1')).toEqual({ data: [], total_count: 1 });
    const owner = await person({ account: 'owner' });
    expect((await list(owner, '/workspaces?limit=1')).total_count).toBe(2);
  });

  it.each([
    ['/observability/destinations', 'destination'],
    ['/byok', 'credential'],
    ['/guardrails?limit=100', 'guardrail'],
  ])('without a workspace is that of the oldest one within reach: %s', async (path, kind) => {
    const admin = await adminOfOther();
    const found = (await list(admin, path)).data.map(({ id }) => id);
    expect(found).toContain(ids[`${kind} of other`]);
    expect(found).not.toContain(ids[`${kind} of default`]);
    const separator = path.includes('?') ? '&' : '?';
    for (const unknown of [app.workspaceId, '019a960b-d800-7000-8000-000000000000'])
      expectError(
        await askAs(admin, app, 'get', `${path}${separator}workspace_id=${unknown}`),
        400,
        'Invalid request parameters: workspace_id: no such workspace',
      );
  });

  it('of notifications has those of the account for roles of the account alone', async () => {
    const names = async (one: TestPerson): Promise<unknown[]> =>
      (await list(one, '/notifications')).data.map(({ name }) => String(name)).toSorted();
    expect(await names(await adminOfOther())).toEqual(['other']);
    expect(await names(await person({ account: 'viewer' }))).toEqual(['Account', 'default', 'other']);
  });

  it('of the audit log has the entries of the workspaces of the role', async () => {
    const admin = await adminOfOther();
    const { data } = await list(admin, '/audit?limit=100');
    expect(new Set(data.map((entry) => entry['workspace_id']))).toEqual(new Set([workspace]));
    expect((await list(admin, `/audit?workspace_id=${app.workspaceId}`)).data).toEqual([]);
    const owner = await person({ account: 'owner' });
    expect((await list(owner, `/audit?workspace_id=${app.workspaceId}`)).data).not.toEqual([]);
  });
});

describe('an object of another workspace', () => {
  it.each([
    ['destination', '/observability/destinations/'],
    ['credential', '/byok/'],
    ['guardrail', '/guardrails/'],
    ['notification', '/notifications/'],
  ])('answers like one that does not exist (T14): %s', async (kind, path) => {
    const admin = await adminOfOther();
    for (const place of ['default', 'the account']) {
      const id = ids[`${kind} of ${place}`];
      if (id === undefined) continue;
      for (const [method, body] of [['get'], ['patch', { name: 'Taken' }], ['delete']] as const) {
        const response = await askAs(admin, app, method, path + id, body && { body });
        const unknown = path + '019a960b-d800-7000-8000-000000000000';
        const answer = await askAs(admin, app, method, unknown, body && { body });
        expect([response.status, response.body]).toEqual([404, answer.body]);
      }
      await askFor(200, app, 'get', path + id);
    }
    expect((await askAs(admin, app, 'get', path + ids[`${kind} of other`])).status).toBe(200);
  });

  it('is not named in a body either: workspace, key, destination (T14)', async () => {
    const admin = await adminOfOther();
    const own = { workspace_id: workspace };
    for (const [path, body] of [
      ['/observability/destinations', { ...WEBHOOK, workspace_id: app.workspaceId }],
      ['/observability/destinations', { ...WEBHOOK, ...own, api_key_hashes: [app.key.hash] }],
      ['/byok', { ...own, provider: 'openai', key: 'k'.repeat(20), allowed_api_key_hashes: [app.key.hash] }],
      ['/guardrails', { name: 'Forged', workspace_id: app.workspaceId }],
      ['/notifications', { name: 'Forged', config: WEBHOOK.config, workspace_id: app.workspaceId }],
      ['/keys', { name: 'Forged', workspace_id: app.workspaceId }],
      [`/guardrails/${ids['guardrail of other']}/assignments/keys`, { key_hashes: [app.key.hash] }],
    ] as const)
      expectError(await askAs(admin, app, 'post', path, { body }), 400);
    const body = {
      type: WEBHOOK.type,
      config: WEBHOOK.config,
      destination_id: ids['destination of default'],
    };
    expectError(await askAs(admin, app, 'post', '/observability/destinations/test', { body }), 404);
  });
});

describe('an admin of a workspace (R9)', () => {
  it('changes the workspace and its members, and no money above it', async () => {
    const admin = await adminOfOther();
    const path = `/workspaces/${workspace}`;
    expect((await askAs(admin, app, 'patch', path, { body: { description: 'Ours' } })).status).toBe(200);
    expectError(
      await askAs(admin, app, 'put', `${path}/budgets/daily`, { body: { limit_usd: 9 } }),
      403,
      REFUSED,
    );
    expectError(await askAs(admin, app, 'delete', `${path}/budgets/daily`), 403, REFUSED);
    expectError(await askAs(admin, app, 'delete', path), 403, REFUSED);
    expectError(await askAs(admin, app, 'get', '/credits'), 403, REFUSED);
    expectError(
      await askAs(admin, app, 'patch', `/workspaces/${app.workspaceId}`, { body: { name: 'T' } }),
      404,
    );
  });

  it('reads the default guardrail of his workspace and does not change it', async () => {
    const admin = await adminOfOther();
    const path = `/guardrails/${defaultGuardrailId(workspace)}`;
    expect((await askAs(admin, app, 'get', path)).status).toBe(200);
    expectError(await askAs(admin, app, 'patch', path, { body: { name: 'Mine' } }), 403, REFUSED);
    expectError(await askAs(admin, app, 'delete', path), 403, REFUSED);
    const ofOther = `/guardrails/${defaultGuardrailId(app.workspaceId)}`;
    expectError(await askAs(admin, app, 'patch', ofOther, { body: { name: 'Mine' } }), 404);
    const own = `/guardrails/${ids['guardrail of other']}`;
    expect((await askAs(admin, app, 'patch', own, { body: { description: 'Ours' } })).status).toBe(200);
  });

  it('tests providers by provider keys of the workspace alone', async () => {
    const admin = await adminOfOther();
    const test = (body: object) => askAs(admin, app, 'post', '/providers/openai/test', { body });
    expectError(await test({}), 403, REFUSED);
    expectError(await test({ byok_id: ids['credential of default'] }), 404);
  });

  it('makes no notification of the account', async () => {
    const admin = await adminOfOther();
    const body = { name: 'Alerts', config: { url: 'https://example.com/alerts' } };
    expectError(await askAs(admin, app, 'post', '/notifications', { body }), 403, REFUSED);
    const made = await askAs(admin, app, 'post', '/notifications', {
      body: { ...body, workspace_id: workspace },
    });
    expect(made.status).toBe(201);
  });
});

describe('members (R6)', () => {
  it('are added and removed up to the own role, and never the own one (V55)', async () => {
    const admin = await adminOfOther();
    const path = `/workspaces/${workspace}/members`;
    const own = { user_ids: ['user_new', admin.id], role: 'admin' };
    expectError(await askAs(admin, app, 'post', `${path}/add`, { body: own }), 403, REFUSED);
    expectError(
      await askAs(admin, app, 'post', `${path}/remove`, { body: { user_ids: [admin.id] } }),
      403,
      REFUSED,
    );
    expectError(
      await askAs(admin, app, 'post', `${path}/add`, { body: { ...own, account_role: 'owner' } }),
      400,
    );
    const owners = { user_ids: ['user_new'], role: 'owner' };
    expectError(await askAs(admin, app, 'post', `${path}/add`, { body: owners }), 400);
    expect((await list(admin, path)).data.map(({ user_id: id }) => id)).not.toContain('user_new');
    const added = await askAs(admin, app, 'post', `${path}/add`, {
      body: { user_ids: ['user_new'], role: 'admin' },
    });
    expect(added.body).toMatchObject({ added_count: 1 });
  });

  it('gives a person the role at once, and nothing to members that are no persons', async () => {
    const member = await person({});
    expectError(await askAs(member, app, 'get', '/workspaces'), 403, REFUSED);
    const body = { user_ids: [member.id], role: 'viewer' };
    await askFor(200, app, 'post', `/workspaces/${workspace}/members/add`, { body });
    expect((await list(member, '/workspaces')).data).toHaveLength(1);
  });
});

describe('a management key (R2)', () => {
  let key: TestKey;
  beforeAll(async () => {
    key = await app.createKey({ kind: 'management', workspaceId: workspace });
  });

  it.each<[string, () => Promise<TestPerson>]>([
    ['an admin of the account', () => person({ account: 'admin' })],
    ['an admin of its workspace', adminOfOther],
  ])('is not rotated, disabled or deleted by %s (V62)', async (_name, make) => {
    const one = await make();
    const path = `/keys/${key.record.hash}`;
    const stored = () =>
      app.sql(
        'SELECT to_jsonb(k)::text, s.secret_hash FROM api_keys k JOIN api_key_secrets s ON s.api_key_id = k.id WHERE k.id = $1',
        [key.record.id],
      );
    const before = await stored();
    expectError(await askAs(one, app, 'post', `${path}/rotate`, { body: {} }), 403, REFUSED);
    expectError(await askAs(one, app, 'patch', path, { body: { disabled: true } }), 403, REFUSED);
    expectError(await askAs(one, app, 'delete', path), 403, REFUSED);
    expect(await stored()).toEqual(before);
    await askFor(200, app, 'get', '/keys', { key: key.secret });
  });

  it('is rotated by an owner', async () => {
    const owner = await person({ account: 'owner' });
    const response = await askAs(owner, app, 'post', `/keys/${key.record.hash}/rotate`, { body: {} });
    expect(response.status).toBe(200);
  });
});

describe('a change of a role', () => {
  it('is in force on another replica within 2 seconds, up and down (V54)', async () => {
    const replica = await app.startReplica();
    const one = await person({ account: 'owner' });
    const patch = async (): Promise<number> =>
      (await askAs(one, replica, 'patch', `/keys/${app.key.hash}`, { body: { name: 'Renamed' } })).status;
    expect(await patch()).toBe(200);
    await setAccountRole(app, one.id, 'viewer');
    await eventually(patch, (status) => status === 403);
    await setAccountRole(app, one.id, 'admin');
    await eventually(patch, (status) => status === 200);
    await replica.close();
  });
});

describe('a viewer (R8)', () => {
  it('sees deliveries without the words of the platform', async () => {
    const id = ids['destination of default'];
    await app.sql(
      `UPDATE delivery_cursors SET failures = 1, last_error_at = now(), last_error_class = 'retry', last_error_status = 400,
       last_error_message = 'HTTP 400: words of a call' WHERE destination_id = $1`,
      [id],
    );
    const message = async (one: TestPerson): Promise<unknown> => {
      const { body } = await askAs(one, app, 'get', `/observability/destinations/${id}/deliveries`);
      return (body as { data: { last_error: { message: string } | null } }).data.last_error?.message;
    };
    expect(await message(await person({ account: 'admin' }))).toBe('HTTP 400: words of a call');
    expect(await message(await person({ account: 'viewer' }))).toBe('HTTP 400');
    const viewer = await person({ account: 'viewer' });
    const { data } = await list(viewer, '/observability/deliveries');
    expect(JSON.stringify(data)).not.toContain('words of a call');
  });
});

describe('a developer', () => {
  it('reads the guardrails that govern his keys, and no others', async () => {
    const one = await person({ workspaces: { [workspace]: 'member' } });
    const { record } = await app.createKey({ workspaceId: workspace, creatorUserId: one.id });
    const make = async (name: string): Promise<string> => {
      const body = { name, workspace_id: workspace };
      return (await askFor<Created>(201, app, 'post', '/guardrails', { body })).data.id;
    };
    const [ofMember, ofKey, ofOthers] = [await make('member'), await make('key'), await make('others')];
    const other = await app.createKey({ workspaceId: workspace, creatorUserId: 'user_2' });
    const assign = (id: string, body: object, kind: string) =>
      askFor(200, app, 'post', `/guardrails/${id}/assignments/${kind}`, { body });
    await assign(ofMember, { member_user_ids: [one.id] }, 'members');
    await assign(ofKey, { key_hashes: [record.hash] }, 'keys');
    await assign(ofOthers, { key_hashes: [other.record.hash] }, 'keys');
    const { data, total_count: total } = await list(one, '/guardrails');
    expect(data[0]?.['name']).toBe('Default of other');
    expect([data.map(({ name }) => String(name)).toSorted(), total]).toEqual([
      ['Default of other', 'key', 'member'],
      3,
    ]);
    const keys = await list(one, '/guardrails/assignments/keys');
    expect([keys.data.map((row) => row['key_hash']), keys.total_count]).toEqual([[record.hash], 1]);
    expect((await list(one, '/guardrails/assignments/members')).data).toEqual([
      expect.objectContaining({ user_id: one.id, assigned_by: null }),
    ]);
    expectError(await askAs(one, app, 'get', `/guardrails/${ofOthers}`), 404);
    expectError(await askAs(one, app, 'get', `/guardrails/${ofOthers}/assignments/keys`), 404);
    expectError(await askAs(one, app, 'get', `/guardrails/${defaultGuardrailId(app.workspaceId)}`), 404);
    expectError(await askAs(one, app, 'get', '/guardrails/usage'), 403, REFUSED);
  });

  it('sees which models his guardrails leave', async () => {
    const one = await person({ workspaces: { [workspace]: 'member' } });
    const models = async (): Promise<unknown[]> => (await list(one, '/models/user')).data.map(({ id }) => id);
    expect((await models()).length).toBeGreaterThan(1);
    const body = { name: 'Few', workspace_id: workspace, allowed_models: ['local/hashing'] };
    const { data } = await askFor<Created>(201, app, 'post', '/guardrails', { body });
    const assigned = { member_user_ids: [one.id] };
    await askFor(200, app, 'post', `/guardrails/${data.id}/assignments/members`, { body: assigned });
    expect(await models()).toEqual(['local/hashing']);
    expectError(await askAs(one, app, 'get', `/models/user?workspace_id=${app.workspaceId}`), 400);
  });
});

describe('an assignment', () => {
  it('names the person who made it', async () => {
    const admin = await adminOfOther();
    const { record } = await app.createKey({ workspaceId: workspace });
    const path = `/guardrails/${ids['guardrail of other']}/assignments/keys`;
    const response = await askAs(admin, app, 'post', path, { body: { key_hashes: [record.hash] } });
    expect(response.body).toEqual({ assigned_count: 1 });
    expect((await list(admin, path)).data).toEqual([expect.objectContaining({ assigned_by: admin.id })]);
  });
});

describe('the playground', () => {
  const call = (one: TestPerson, hash: string) =>
    app.http
      .post(`/console/playground/embeddings?api_key_hash=${hash}`)
      .set({ ...CHANGE, cookie: one.cookie })
      .send({ model: 'local/hashing', input: 'words', dimensions: 8 });

  it('charges keys within reach: those of the workspace, and own ones', async () => {
    const one = await person({ account: 'developer' });
    const { record } = await app.createKey({ creatorUserId: one.id });
    expect((await call(one, record.hash)).status).toBe(200);
    expectError(await call(one, app.key.hash), 404, /no key has this hash/);
    expect((await call(await person({ account: 'admin' }), app.key.hash)).status).toBe(200);
    expectError(await call(await adminOfOther(), app.key.hash), 404);
    expectError(await call(await person({ account: 'viewer' }), app.key.hash), 403, REFUSED);
  });

  it('charges no key that ended with its creator (R12)', async () => {
    const one = await person({ account: 'developer' });
    const { record } = await app.createKey({ creatorUserId: one.id, endsWithCreator: true });
    const admin = await person({ account: 'admin' });
    expect((await call(admin, record.hash)).status).toBe(200);
    await app.sql("UPDATE persons SET keys_valid_until = now() - interval '1 year' WHERE id = $1", [one.id]);
    expectError(await call(admin, record.hash), 400, /whose creator has not left/);
  });
});

describe('the keys that use models that end', () => {
  it('are those within reach', async () => {
    const one = await person({ account: 'developer' });
    expect((await askAs(one, app, 'get', '/catalogue/expiring')).status).toBe(200);
    expect((await askAs(await adminOfOther(), app, 'get', '/catalogue/expiring')).status).toBe(200);
  });
});

describe('another account', () => {
  let other: TestAccount;
  beforeAll(async () => {
    other = await app.createAccount();
  });

  it('is as unknown to an owner as to its management key', async () => {
    const owner = await person({ account: 'owner' });
    expectError(await askAs(owner, app, 'get', `/keys/${other.key.hash}`), 404);
    expectError(await askAs(owner, app, 'get', `/keys?workspace_id=${other.workspaceId}`), 400);
    expectError(await ask(app, 'get', `/keys/${other.key.hash}`), 404);
  });
});
