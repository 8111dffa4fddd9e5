// Sign-in to the console, status by status. Contract: docs/contract.md#console.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashKeySecret } from '../../../src/domain/keys/api-key.js';
import { makeOperator } from '../../support/catalogue/operator-apps.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import {
  CHANGE,
  cookieOf,
  FROM_PAGE,
  setCookies,
  signIn,
  whoAmI,
  withId,
} from '../../support/app/console.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0' } });
});
afterAll(() => app.close());

describe('POST /console/session', () => {
  it('returns the key, its account and the end of the session', async () => {
    const response = await signIn(app, ` ${app.managementKey}\n`);
    const now = app.clock.now().getTime();
    expect(response.status).toBe(200);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.body).toEqual({
      data: {
        kind: 'management',
        is_management_key: true,
        key_hash: hashKeySecret(app.managementKey),
        key_name: 'Test key',
        key_label: `${app.managementKey.slice(0, 12)}...${app.managementKey.slice(-4)}`,
        account_id: app.accountId,
        account_name: 'Test account',
        workspace_id: app.workspaceId,
        workspace_name: 'Default',
        can_change_catalogue: false,
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + 7 * DAY).toISOString(),
      },
    });
  });

  it('stores the hash of the id alone', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    const id = cookie.split('=')[1] ?? '';
    const rows = await app.sql<{ row: string }>('SELECT to_jsonb(s)::text AS row FROM console_sessions s');
    expect(rows.filter(({ row }) => row.includes(hashKeySecret(id)))).toHaveLength(1);
    for (const { row } of rows) expect(row).not.toContain(id);
  });

  it.each([
    ['an unknown key', { key: 'sk-sb-v1-unknown' }, 401, 'Invalid credentials'],
    ['no key', {}, 400, /key: /],
    ['a key that is no text', { key: 1 }, 400, /key: must be a string/],
    ['another member', { key: 'x', account_id: 'y' }, 400, /account_id: is not a member/],
  ])('rejects %s', async (_name, body, status, message) => {
    const response = await app.http.post('/console/session').set(FROM_PAGE).send(body);
    expectError(response, status, message);
    expect(setCookies(response)).toEqual([]);
  });

  it('keeps the newest 20 sessions of a key', async () => {
    const { secret } = await app.createKey({ kind: 'management' });
    const first = await cookieOf(app, secret);
    for (let count = 0; count < 20; count++) {
      app.clock.advance(1_000);
      await cookieOf(app, secret);
    }
    expectError(await whoAmI(app, first), 401);
    const [row] = await app.sql<{ count: number }>(
      'SELECT count(*)::int FROM console_sessions WHERE secret_hash = $1',
      [hashKeySecret(secret)],
    );
    expect(row?.count).toBe(20);
  });
});

describe('a session', () => {
  it('of an operator account says that it may change the catalogue', async () => {
    makeOperator(app);
    const shown = async (key: string): Promise<unknown> => (await signIn(app, key)).body;
    expect(await shown(app.managementKey)).toMatchObject({ data: { can_change_catalogue: true } });
    expect(await shown(app.apiKey)).toMatchObject({ data: { can_change_catalogue: false } });
  });

  it('reads and changes like its management key', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    const listed = await app.http.get('/api/v1/keys').set({ ...FROM_PAGE, cookie });
    expect(listed.status).toBe(200);
    const created = await app.http
      .post('/api/v1/keys')
      .set({ ...CHANGE, cookie })
      .send({ name: 'Made in the console' });
    expect(created.status).toBe(201);
    const { data } = await askFor<{ data: { actor: { key_hash: string } }[] }>(
      200,
      app,
      'get',
      '/audit?limit=1',
    );
    expect(data[0]?.actor.key_hash).toBe(hashKeySecret(app.managementKey));
  });

  it('of an inference key reads its own key and nothing else', async () => {
    const cookie = await cookieOf(app, app.apiKey);
    const session = await whoAmI(app, cookie);
    expect(session.body).toMatchObject({ data: { kind: 'inference', is_management_key: false } });
    const own = await app.http.get('/api/v1/key').set({ ...FROM_PAGE, cookie });
    expect(own.status).toBe(200);
    expectError(await app.http.get('/api/v1/keys').set({ ...FROM_PAGE, cookie }), 401, /management keys/);
  });

  it('ends after 12 hours without a request', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    app.clock.advance(12 * HOUR - 1);
    expect((await whoAmI(app, cookie)).status).toBe(200);
    app.clock.advance(12 * HOUR);
    expectError(await whoAmI(app, cookie), 401);
  });

  it('ends after 7 days in any case, and its row is removed', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    const startedAt = app.clock.now();
    for (let count = 0; count < 16; count++) {
      app.clock.advance(10.5 * HOUR - 1);
      const response = await whoAmI(app, cookie);
      expect([count, response.status]).toEqual([count, 200]);
    }
    app.clock.advance(16);
    expectError(await whoAmI(app, cookie), 401);
    await cookieOf(app, app.managementKey);
    expect(await app.sql('SELECT 1 FROM console_sessions WHERE created_at = $1', [startedAt])).toEqual([]);
  });

  it('records its use once a minute at most', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    const hash = hashKeySecret(cookie.split('=')[1] ?? '');
    const seen = async (): Promise<Date | undefined> =>
      (
        await app.sql<{ at: Date }>('SELECT last_seen_at AS at FROM console_sessions WHERE id_hash = $1', [
          hash,
        ])
      )[0]?.at;
    const signedInAt = app.clock.now();
    app.clock.advance(59_999);
    await whoAmI(app, cookie);
    expect(await seen()).toEqual(signedInAt);
    app.clock.advance(1);
    await whoAmI(app, cookie);
    // The request does not wait for the record.
    await eventually(seen, (at) => at?.getTime() === app.clock.now().getTime());
  });

  it('is not revived by enabling its key', async () => {
    const { secret, record } = await app.createKey({ kind: 'management' });
    const cookie = await cookieOf(app, secret);
    expect((await whoAmI(app, cookie)).status).toBe(200);
    for (const disabled of [true, false])
      await ask(app, 'patch', `/keys/${record.hash}`, { body: { disabled } });
    expect((await ask(app, 'get', '/key', { key: secret })).status).toBe(200);
    expectError(await whoAmI(app, cookie), 401);
  });

  it('survives a change of the name of its key', async () => {
    const { secret, record } = await app.createKey({ kind: 'management' });
    const cookie = await cookieOf(app, secret);
    await ask(app, 'patch', `/keys/${record.hash}`, { body: { name: 'Renamed' } });
    expect((await whoAmI(app, cookie)).body).toMatchObject({ data: { key_name: 'Renamed' } });
  });
});

describe('GET /console/session', () => {
  it.each([
    ['no cookie', () => ''],
    ['a cookie of another form', (cookie: string) => cookie.slice(0, -1)],
    ['an unknown id', (cookie: string) => withId(cookie, 'A')],
    ['the cookie of another installation', (cookie: string) => cookie.replace(/_[0-9a-f]{8}=/, '_00000000=')],
    ['the cookie of an older version', (cookie: string) => cookie.replace(/_[0-9a-f]{8}=/, '=')],
  ])('returns 401 with %s', async (_name, change) => {
    const cookie = change(await cookieOf(app, app.managementKey));
    expectError(await app.http.get('/console/session').set({ ...FROM_PAGE, cookie }), 401);
  });

  it('returns 401 with a bearer key, which is no session', async () => {
    const response = await app.http
      .get('/console/session')
      .set('authorization', `Bearer ${app.managementKey}`);
    expectError(response, 401, /there is no session/);
  });
});

describe('DELETE /console/session', () => {
  it('ends the session and removes the cookie', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    expect((await whoAmI(app, cookie)).status).toBe(200);
    const response = await app.http.delete('/console/session').set({ ...CHANGE, cookie });
    expect([response.status, response.body]).toEqual([200, { deleted: true }]);
    expect(setCookies(response)[0]).toMatch(
      /^signalbox_session_[0-9a-f]{8}=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    );
    expectError(await whoAmI(app, cookie), 401);
  });

  it('answers the same without a session', async () => {
    expect((await app.http.delete('/console/session').set(CHANGE)).status).toBe(200);
  });
});

it('with CONSOLE=off there are no sessions', async () => {
  const off = await createTestApp({ environment: { CONSOLE: 'off' } });
  expectError(await signIn(off, off.managementKey), 404);
  await off.close();
});
