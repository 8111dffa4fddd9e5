// People, their roles and their sessions. Contract: docs/contract.md#people.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import type { TestApp } from '../../support/app/app.js';
import { CHANGE, FROM_PAGE, whoAmI } from '../../support/app/console.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import {
  answerWith,
  createSignInApp,
  currentClock,
  mapGroup,
  sessionOf,
  sessionShown,
} from '../../support/sign-in/sign-in-app.js';
import { startTokenIssuer } from '../../support/sign-in/token-issuer.js';
import type { TokenIssuer } from '../../support/sign-in/token-issuer.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Signed {
  readonly id: string;
  readonly cookie: string;
}

interface Member {
  readonly id: string;
  readonly state: string;
  readonly account_role: string | null;
  readonly keys_valid_until: string;
  readonly workspaces: readonly object[];
}

const clock = currentClock();
let issuer: TokenIssuer;
let app: TestApp;
beforeAll(async () => {
  issuer = await startTokenIssuer(() => clock.now());
  app = await createSignInApp(issuer.issuer, { clock, environment: { OIDC_OWNER_GROUPS: 'owners' } });
  for (const role of ['admin', 'developer', 'viewer'])
    await mapGroup(app, { issuer: issuer.issuer, group: `${role}s`, role });
});
afterAll(async () => {
  await app.close();
  await issuer.close();
});

async function signInAs(sub: string, groups: readonly string[] = [], service = app): Promise<Signed> {
  const response = await answerWith(service, issuer, {
    claims: { sub, groups, email: `${sub}@example.com` },
  });
  const cookie = sessionOf(response);
  const { person } = await sessionShown(service, cookie);
  return { id: person.id, cookie };
}

function change(
  { cookie }: Pick<Signed, 'cookie'>,
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  body?: object,
  service = app,
): Promise<Response> {
  const request = service.http[method](`/api/v1${path}`).set({ ...CHANGE, cookie });
  return Promise.resolve(body === undefined ? request : request.send(body));
}

async function memberOf(id: string): Promise<Member | undefined> {
  const { data } = await askFor<{ data: Member[] }>(200, app, 'get', '/organization/members?limit=100');
  return data.find((member) => member.id === id);
}

const patch = (id: string, body: object): Promise<Response> =>
  ask(app, 'patch', `/organization/members/${id}`, { body });

describe('a person', () => {
  it('is never matched by an e-mail address, nor by a subject of another issuer (V38)', async () => {
    const owner = await signInAs('owner-1', ['owners']);
    const response = await answerWith(app, issuer, {
      claims: { sub: 'thief', groups: [], email: 'owner-1@example.com' },
    });
    const thief = await sessionShown(app, sessionOf(response));
    expect(thief.person.id).not.toBe(owner.id);
    expect(thief).toMatchObject({ account_role: null, rights: {} });
    expect(await memberOf(owner.id)).toMatchObject({ account_role: 'owner', state: 'active' });
  });

  it('has the role of groups at every sign-in, beside the one given by hand (V40)', async () => {
    const { id } = await signInAs('dora', ['admins']);
    expect((await patch(id, { account_role: 'viewer' })).body).toMatchObject({
      data: { account_role: 'admin', account_role_sources: { hand: 'viewer', group: 'admin' } },
    });
    await signInAs('dora', []);
    expect(await memberOf(id)).toMatchObject({
      account_role: 'viewer',
      account_role_sources: { hand: 'viewer', group: null },
    });
  });

  it('keeps a membership given by hand when its group is gone (V40)', async () => {
    const mapping = { issuer: issuer.issuer, group: 'search', role: 'admin', workspace_id: app.workspaceId };
    await mapGroup(app, mapping);
    const { id } = await signInAs('emil', []);
    await askFor(200, app, 'post', `/workspaces/${app.workspaceId}/members/add`, {
      body: { user_ids: [id], role: 'member' },
    });
    const workspacesOf = async (): Promise<unknown> => (await memberOf(id))?.workspaces;
    await signInAs('emil', ['search']);
    expect(await workspacesOf()).toEqual([
      { workspace_id: app.workspaceId, role: 'admin', role_sources: { hand: 'member', group: 'admin' } },
    ]);
    await signInAs('emil', []);
    expect(await workspacesOf()).toEqual([
      { workspace_id: app.workspaceId, role: 'member', role_sources: { hand: 'member', group: null } },
    ]);
  });

  it('has the highest role of several groups, in either order (V42)', async () => {
    for (const groups of [
      ['viewers', 'admins'],
      ['admins', 'viewers'],
    ]) {
      const { id } = await signInAs('finn', groups);
      expect(await memberOf(id)).toMatchObject({ account_role: 'admin' });
    }
  });

  it('signs in without the group as the last owner, and a management key grants the role (V52)', async () => {
    const service = await createSignInApp(issuer.issuer, {
      clock,
      environment: { OIDC_OWNER_GROUPS: 'owners' },
    });
    try {
      await signInAs('greta', ['owners'], service);
      const { id, cookie } = await signInAs('greta', [], service);
      expect(await sessionShown(service, cookie)).toMatchObject({ account_role: null });
      const body = { account_role: 'owner' };
      await askFor(200, service, 'patch', `/organization/members/${id}`, { body });
      expect(await sessionShown(service, cookie)).toMatchObject({ account_role: 'owner' });
    } finally {
      await service.close();
    }
  });

  it('gains nothing by being first, or by OIDC_DEFAULT_ROLE alone what it names', async () => {
    const service = await createSignInApp(issuer.issuer, {
      clock,
      environment: { OIDC_DEFAULT_ROLE: 'viewer' },
    });
    try {
      const response = await answerWith(service, issuer, { claims: { sub: 'first' } });
      expect(await sessionShown(service, sessionOf(response))).toMatchObject({ account_role: 'viewer' });
    } finally {
      await service.close();
    }
  });
});

describe('PATCH /organization/members/{id}', () => {
  it('never changes the own role, gives none above it, and takes nothing else (V55)', async () => {
    const admin = await signInAs('hugo', ['admins']);
    const owner = await signInAs('owner-2', ['owners']);
    const { id } = await signInAs('ida', []);
    const members = '/organization/members';
    expectError(
      await change(admin, 'patch', `${members}/${admin.id}`, { account_role: 'owner' }),
      403,
      /role/,
    );
    expectError(
      await change(admin, 'patch', `${members}/${admin.id}`, { account_role: 'viewer' }),
      403,
      /role/,
    );
    expectError(await change(admin, 'patch', `${members}/${id}`, { account_role: 'owner' }), 403, /owner/);
    expectError(await change(admin, 'patch', `${members}/${owner.id}`, { account_role: null }), 403, /owner/);
    expectError(await change(admin, 'patch', `${members}/${owner.id}`, { disabled: true }), 403, /owner/);
    expectError(
      await change(admin, 'patch', `${members}/${id}`, { account_role: 'viewer', subject: 'x' }),
      400,
    );
    expectError(await change(admin, 'patch', `${members}/${id}`, {}), 400, /account_role or disabled/);
    expect(await memberOf(id)).toMatchObject({ account_role: null });
    expect((await change(admin, 'patch', `${members}/${id}`, { account_role: 'admin' })).status).toBe(200);
    const viewer = await signInAs('viewer-1', ['viewers']);
    expectError(await change(viewer, 'patch', `${members}/${id}`, { account_role: null }), 403);
    expectError(await change(viewer, 'get', members), 403);
  });

  it('answers 404 for an unknown person, and for one of another account', async () => {
    const service = await createSignInApp(issuer.issuer, { clock });
    try {
      const other = await service.createAccount();
      const id = `usr_${'a'.repeat(32)}`;
      await service.sql(
        "INSERT INTO persons (account_id, id, issuer, subject) VALUES ($1, $2, 'https://id.example.com', 'other')",
        [other.accountId, id],
      );
      const body = { disabled: true };
      for (const unknown of [id, `usr_${'0'.repeat(32)}`, 'x'])
        expectError(await ask(service, 'patch', `/organization/members/${unknown}`, { body }), 404);
      expect((await service.sql('SELECT disabled_at FROM persons'))[0]).toEqual({ disabled_at: null });
    } finally {
      await service.close();
    }
  });

  it('disables a person: sessions and keys end at once; enabled, the keys return and no session does (V60)', async () => {
    const person = await signInAs('jan', ['developers']);
    const { secret, record } = await app.createKey({ creatorUserId: person.id });
    await app.sql('UPDATE api_keys SET ends_with_creator = true WHERE id = $1', [record.id]);
    const use = async (): Promise<number> => (await ask(app, 'get', '/key', { key: secret })).status;
    const replica = await app.startReplica();
    try {
      expect([await use(), (await whoAmI(replica, person.cookie)).status]).toEqual([200, 200]);
      expect((await patch(person.id, { disabled: true })).body).toMatchObject({
        data: { state: 'disabled' },
      });
      expect([await use(), (await whoAmI(app, person.cookie)).status]).toEqual([401, 401]);
      await eventually(
        async () => (await whoAmI(replica, person.cookie)).status,
        (status) => status === 401,
      );
      const refused = await answerWith(app, issuer, { claims: { sub: 'jan', groups: ['developers'] } });
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('You may not sign in')]);
      expect((await patch(person.id, { disabled: false })).body).toMatchObject({ data: { state: 'active' } });
      expect([await use(), (await whoAmI(app, person.cookie)).status]).toEqual([200, 401]);
    } finally {
      await replica.close();
    }
  });

  it('is in force within two seconds on another replica, up and down (V54)', async () => {
    const { id, cookie } = await signInAs('kim', []);
    await patch(id, { account_role: 'owner' });
    const target = await signInAs('target', []);
    const replica = await app.startReplica();
    const attempt = async (): Promise<number> =>
      (
        await change(
          { cookie },
          'patch',
          `/organization/members/${target.id}`,
          { account_role: 'viewer' },
          replica,
        )
      ).status;
    try {
      expect(await attempt()).toBe(200);
      await patch(id, { account_role: 'viewer' });
      await eventually(attempt, (status) => status === 403);
      await patch(id, { account_role: 'owner' });
      await eventually(attempt, (status) => status === 200);
    } finally {
      await replica.close();
    }
  });

  it('is recorded with the person that made the change', async () => {
    const owner = await signInAs('owner-3', ['owners']);
    const { id } = await signInAs('lena', []);
    await change(owner, 'patch', `/organization/members/${id}`, { account_role: 'developer' });
    const { data } = await askFor<{ data: object[] }>(
      200,
      app,
      'get',
      `/audit?object_id=${id}&action=update`,
    );
    expect(data).toMatchObject([
      { object_type: 'person', before: { account_role: null }, after: { account_role: 'developer' } },
    ]);
    const rows = await app.sql(
      "SELECT actor_user_id, actor_label FROM audit_log WHERE object_id = $1 AND action = 'update'",
      [id],
    );
    expect(rows).toEqual([{ actor_user_id: owner.id, actor_label: 'owner-3@example.com' }]);
  });
});

describe('GET /organization/members', () => {
  it('lists those who wait first', async () => {
    const { id } = await signInAs('waiting', []);
    const { data } = await askFor<{ data: Member[] }>(200, app, 'get', '/organization/members?limit=100');
    const states = data.map(({ state }) => state);
    expect(states.lastIndexOf('waiting')).toBeLessThan(states.indexOf('active'));
    expect(data.find((member) => member.id === id)).toEqual({
      id,
      email: 'waiting@example.com',
      first_name: null,
      last_name: null,
      role: 'org:member',
      account_role: null,
      account_role_sources: { hand: null, group: null },
      state: 'waiting',
      issuer: issuer.issuer,
      created_at: clock.now().toISOString(),
      last_sign_in_at: clock.now().toISOString(),
      keys_valid_until: new Date(clock.now().getTime() + 30 * DAY).toISOString(),
      workspaces: [],
    });
  });
});

describe('group mappings', () => {
  const mapping = (role: string, group: string): object => ({ issuer: issuer.issuer, group, role });

  it('are created, listed and deleted, with entries in the audit log', async () => {
    const created = await ask(app, 'post', '/group-mappings', { body: mapping('viewer', 'guests') });
    expect(created.status).toBe(201);
    const { data } = created.body as { data: { id: string } };
    expect(data).toMatchObject({ ...mapping('viewer', 'guests'), workspace_id: null });
    expectError(
      await ask(app, 'post', '/group-mappings', { body: mapping('admin', 'guests') }),
      409,
      /already/,
    );
    const listed = await askFor<{ data: object[] }>(200, app, 'get', '/group-mappings?limit=100');
    expect(listed.data).toContainEqual(data);
    clock.advance(1);
    expect((await ask(app, 'delete', `/group-mappings/${data.id}`)).body).toEqual({ deleted: true });
    expectError(await ask(app, 'delete', `/group-mappings/${data.id}`), 404);
    const audit = await askFor<{ data: object[] }>(200, app, 'get', `/audit?object_id=${data.id}`);
    expect(audit.data).toMatchObject([
      { object_type: 'group_mapping', action: 'delete' },
      { object_type: 'group_mapping', action: 'create' },
    ]);
  });

  it.each<[string, object, number, RegExp]>([
    [
      'another issuer',
      { issuer: 'https://e.com', group: 'a', role: 'viewer' },
      400,
      /issuer: must be the issuer/,
    ],
    ['a role of a workspace for the account', { group: 'a', role: 'member' }, 400, /role: must be owner/],
    [
      'a role of the account for a workspace',
      { group: 'a', role: 'owner', workspace_id: 'own' },
      400,
      /role: must be owner/,
    ],
    [
      'a workspace that does not exist',
      { group: 'a', role: 'admin', workspace_id: '0199a1b2-0000-7000-8000-000000000000' },
      400,
      /workspace_id/,
    ],
    ['no group', { group: '', role: 'viewer' }, 400, /group/],
    ['a long group', { group: 'x'.repeat(401), role: 'viewer' }, 400, /group/],
    ['an unknown member', { group: 'a', role: 'viewer', groups: [] }, 400, /groups/],
  ])('are refused with %s', async (_name, body, status, message) => {
    const workspace =
      'workspace_id' in body && body.workspace_id === 'own' ? { workspace_id: app.workspaceId } : {};
    const sent = { issuer: issuer.issuer, ...body, ...workspace };
    expectError(await ask(app, 'post', '/group-mappings', { body: sent }), status, message);
  });

  it('are created and deleted up to the own role, by account admins alone (V62)', async () => {
    const admin = await signInAs('mona', ['admins']);
    expectError(await change(admin, 'post', '/group-mappings', mapping('owner', 'mona-s')), 403, /owner/);
    expect((await change(admin, 'post', '/group-mappings', mapping('admin', 'mona-s'))).status).toBe(201);
    const id = await mapGroup(app, { issuer: issuer.issuer, group: 'chiefs', role: 'owner' });
    expectError(await change(admin, 'delete', `/group-mappings/${id}`), 403, /owner/);
    const { id: memberId } = await signInAs('nils', []);
    await askFor(200, app, 'post', `/workspaces/${app.workspaceId}/members/add`, {
      body: { user_ids: [memberId], role: 'admin' },
    });
    const workspaceAdmin = await signInAs('nils', []);
    expectError(await change(workspaceAdmin, 'post', '/group-mappings', mapping('admin', 'nils-s')), 403);
    expectError(await change(workspaceAdmin, 'get', '/group-mappings'), 403);
  });
});

describe('GET /sign-in/providers', () => {
  it('shows the configuration without the secret, the discovery, and the claim names of the own last sign-in', async () => {
    const owner = await signInAs('owner-4', ['owners']);
    const { body } = await change(owner, 'get', '/sign-in/providers');
    expect(body).toEqual({
      data: [
        {
          id: 'oidc',
          name: new URL(issuer.issuer).host,
          issuer: issuer.issuer,
          client_id: 'gateway',
          redirect_url: 'https://gateway.example.com/console/sign-in/oidc/callback',
          scopes: 'openid email profile',
          groups_claim: 'groups',
          allowed_domains: [],
          default_role: 'none',
          owner_groups: ['owners'],
          session_minutes: 60,
          key_grace_days: 30,
          discovery: { state: 'ready', checked_at: expect.any(String), problem: null },
          claim_names: ['aud', 'email', 'email_verified', 'exp', 'groups', 'iat', 'iss', 'nonce', 'sub'],
        },
      ],
    });
    const byKey = await askFor<{ data: object[] }>(200, app, 'get', '/sign-in/providers');
    expect(byKey.data).toMatchObject([{ claim_names: null }]);
  });
});

describe('the end of access', () => {
  it('of a session comes OIDC_SESSION_MINUTES after sign-in, however much it is used (V53)', async () => {
    const { cookie } = await signInAs('olga', []);
    for (const minutes of [30, 29]) {
      clock.advance(minutes * MINUTE);
      expect((await whoAmI(app, cookie)).status).toBe(200);
    }
    clock.advance(MINUTE);
    expectError(await whoAmI(app, cookie), 401);
    expect((await whoAmI(app, (await signInAs('olga', [])).cookie)).status).toBe(200);
  });

  it('of keys comes OIDC_KEY_GRACE_DAYS after the last sign-in, and at once when the roles end at one', async () => {
    const { id } = await signInAs('paul', ['developers']);
    const { secret, record } = await app.createKey({ creatorUserId: id });
    await app.sql('UPDATE api_keys SET ends_with_creator = true WHERE id = $1', [record.id]);
    const use = async (): Promise<number> => (await ask(app, 'get', '/key', { key: secret })).status;
    clock.advance(30 * DAY - 1);
    expect(await use()).toBe(200);
    clock.advance(1);
    expect(await use()).toBe(401);
    await signInAs('paul', ['developers']);
    expect(await use()).toBe(200);
    await signInAs('paul', []);
    expect(await use()).toBe(401);
    expect((await memberOf(id))?.keys_valid_until).toBe(clock.now().toISOString());
    await patch(id, { account_role: 'developer' });
    expect(await use()).toBe(200);
  });

  it('of the oldest session comes with the 21st of a person', async () => {
    const first = await signInAs('rosa', []);
    for (let count = 0; count < 20; count++) {
      clock.advance(1_000);
      await signInAs('rosa', []);
    }
    await eventually(
      async () => (await whoAmI(app, first.cookie)).status,
      (status) => status === 401,
    );
    const rows = await app.sql('SELECT 1 FROM console_sessions WHERE person_id = $1', [first.id]);
    expect(rows).toHaveLength(20);
  });

  it('by signing out has the address that ends the session at the issuer, where it has one', async () => {
    const { cookie } = await signInAs('sven', []);
    const out = await app.http.delete('/console/session').set({ ...CHANGE, cookie });
    expect(out.body).toEqual({ deleted: true, end_session_url: null });
    expectError(await app.http.get('/console/session').set({ ...FROM_PAGE, cookie }), 401);
    const other = await startTokenIssuer(() => clock.now());
    other.answer = { metadata: { end_session_endpoint: `${other.issuer}/end` } };
    const service = await createSignInApp(other.issuer, { clock });
    try {
      const session = sessionOf(await answerWith(service, other, other.answer));
      const { body } = await service.http.delete('/console/session').set({ ...CHANGE, cookie: session });
      expect(body).toEqual({ deleted: true, end_session_url: `${other.issuer}/end?client_id=gateway` });
    } finally {
      await service.close();
      await other.close();
    }
  });
});
