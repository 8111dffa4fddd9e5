// Attacks on the sessions of the console.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask } from '../support/requests/admin.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { CHANGE, cookieOf, FROM_PAGE, setCookies, signIn, whoAmI, withId } from '../support/app/console.js';
import { expectError } from '../support/requests/error-shape.js';
import { eventually } from '../support/eventually.js';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0' } });
});
afterAll(() => app.close());

describe('a request of another page', () => {
  it.each([
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another host of the site', { 'sec-fetch-site': 'same-site' }],
    ['an address that was typed', { 'sec-fetch-site': 'none' }],
    ['a browser that states no site', {}],
  ])('has no session: %s', async (_name, headers) => {
    const cookie = await cookieOf(app, app.managementKey);
    for (const path of ['/api/v1/keys', '/console/session'])
      expectError(
        await app.http.get(path).set({ ...headers, cookie }),
        401,
        /^Missing Authentication header/,
      );
    const change = { ...headers, cookie, 'x-signalbox-console': '1' };
    expectError(await app.http.post('/api/v1/keys').set(change).send({ name: 'Forged' }), 401);
    expectError(await app.http.delete('/console/session').set(change), 403);
    expect((await whoAmI(app, cookie)).status).toBe(200);
  });

  it.each(['post', 'patch', 'put', 'delete'] as const)(
    'without the header of the console changes nothing: %s',
    async (method) => {
      const cookie = await cookieOf(app, app.managementKey);
      const response = await app.http[method](`/api/v1/keys/${app.key.hash}`)
        .set({ ...FROM_PAGE, cookie })
        .send({});
      expect([401, 404, 405]).toContain(response.status);
      const made = await app.http
        .post('/api/v1/keys')
        .set({ ...FROM_PAGE, cookie })
        .send({ name: 'Forged' });
      expectError(made, 401, 'Missing Authentication header');
    },
  );

  it.each(['cross-site', 'same-site', 'none'])('cannot sign the browser in: %s', async (site) => {
    const response = await signIn(app, app.managementKey, { 'sec-fetch-site': site });
    expectError(response, 403, 'Requests of other sites are not accepted');
    expect(setCookies(response)).toEqual([]);
  });
});

describe('the cookie', () => {
  it('on loopback is HttpOnly, SameSite=Strict and of the whole host', async () => {
    expect(setCookies(await signIn(app, app.managementKey))).toEqual([
      expect.stringMatching(
        /^signalbox_session_[0-9a-f]{8}=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
      ),
    ]);
  });

  it.each([
    ['another host', { host: 'gateway.example.com' }],
    [
      'a proxy on this machine, by the origin',
      { host: '127.0.0.1:3000', origin: 'https://gateway.example.com' },
    ],
    [
      'a proxy on this machine, by its header',
      { host: 'localhost', 'x-forwarded-host': 'gateway.example.com' },
    ],
    ['a name that begins like loopback', { host: '127.0.0.1.example.com' }],
  ])('is Secure and bound to its host behind %s', async (_name, headers) => {
    const [cookie = ''] = setCookies(await signIn(app, app.managementKey, { ...FROM_PAGE, ...headers }));
    expect(cookie).toMatch(
      /^__Host-signalbox_session_[0-9a-f]{8}=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await app.http.get('/console/session').set({ ...FROM_PAGE, ...headers, cookie })).status).toBe(
      200,
    );
  });

  it.each([
    { host: 'gateway.example.com' },
    { host: 'localhost', 'x-forwarded-host': 'gateway.example.com' },
    { host: 'localhost', origin: 'https://gateway.example.com' },
  ])('without the prefix does not count outside loopback: %j', async (headers) => {
    const cookie = await cookieOf(app, app.managementKey);
    const response = await app.http.get('/console/session').set({ ...FROM_PAGE, ...headers, cookie });
    expectError(response, 401);
  });
});

it('an id from before the sign-in is not signed in, and ends', async () => {
  const planted = await cookieOf(app, app.apiKey);
  const response = await app.http
    .post('/console/session')
    .set({ ...FROM_PAGE, cookie: planted })
    .send({ key: app.managementKey });
  const [cookie = ''] = setCookies(response);
  expect(cookie.split(';')[0]).not.toBe(planted);
  expectError(await whoAmI(app, planted), 401);
  const chosen = withId(planted, 'A');
  await app.http
    .post('/console/session')
    .set({ ...FROM_PAGE, cookie: chosen })
    .send({ key: app.managementKey });
  expectError(await whoAmI(app, chosen), 401);
});

describe('a session on another replica', () => {
  let replica: TestApp;
  beforeAll(async () => {
    replica = await app.startReplica();
  });
  afterAll(() => replica.close());

  it.each([
    ['is disabled', (hash: string) => ask(app, 'patch', `/keys/${hash}`, { body: { disabled: true } })],
    ['is deleted', (hash: string) => ask(app, 'delete', `/keys/${hash}`)],
    [
      'is rotated without grace',
      (hash: string) => ask(app, 'post', `/keys/${hash}/rotate`, { body: { grace_period_seconds: 0 } }),
    ],
  ])('ends when its key %s', async (_name, change) => {
    const { secret, record } = await app.createKey({ kind: 'management' });
    const cookie = await cookieOf(app, secret);
    for (const one of [app, replica, replica]) expect((await whoAmI(one, cookie)).status).toBe(200);
    expect((await change(record.hash)).status).toBe(200);
    expectError(await whoAmI(app, cookie), 401);
    await eventually(
      async () => (await whoAmI(replica, cookie)).status,
      (status) => status === 401,
    );
  });

  it('ends when it is signed out', async () => {
    const cookie = await cookieOf(app, app.managementKey);
    expect((await whoAmI(replica, cookie)).status).toBe(200);
    await app.http.delete('/console/session').set({ ...CHANGE, cookie });
    await eventually(
      async () => (await whoAmI(replica, cookie)).status,
      (status) => status === 401,
    );
  });
});

it('ends with the grace period of a rotation', async () => {
  const { secret, record } = await app.createKey({ kind: 'management' });
  const cookie = await cookieOf(app, secret);
  await ask(app, 'post', `/keys/${record.hash}/rotate`, { body: { grace_period_seconds: 600 } });
  app.clock.advance(599_999);
  expect((await whoAmI(app, cookie)).status).toBe(200);
  app.clock.advance(1);
  expectError(await whoAmI(app, cookie), 401);
});

it('ends with the expiry of its key', async () => {
  const expiresAt = new Date(app.clock.now().getTime() + 60_000);
  const { secret } = await app.createKey({ kind: 'management', expiresAt });
  const cookie = await cookieOf(app, secret);
  app.clock.advance(59_999);
  expect((await whoAmI(app, cookie)).status).toBe(200);
  app.clock.advance(1);
  expectError(await whoAmI(app, cookie), 401);
});

it('a cookie pays for no call', async () => {
  for (const key of [app.apiKey, app.managementKey]) {
    const cookie = await cookieOf(app, key);
    const response = await app.http
      .post('/api/v1/embeddings')
      .set({ ...CHANGE, cookie })
      .send({ model: 'local/hashing', input: 'words' });
    expectError(response, 401, 'Missing Authentication header');
  }
  expect(await app.sql('SELECT 1 FROM generations')).toEqual([]);
});

it('a bearer key wins over a cookie', async () => {
  const cookie = await cookieOf(app, app.managementKey);
  for (const [authorization, status] of [
    ['Bearer wrong', 401],
    ['Basic wrong', 401],
    [`Bearer ${app.apiKey}`, 401],
    [`Bearer ${app.managementKey}`, 200],
  ] as const) {
    const response = await app.http.get('/api/v1/keys').set({ ...FROM_PAGE, cookie, authorization });
    expect([authorization, response.status]).toEqual([authorization, status]);
  }
});

it('guesses of keys and ids count toward the failed authentications of the address', async () => {
  const limited = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '3' } });
  const cookie = await cookieOf(limited, limited.managementKey);
  expectError(await signIn(limited, 'guess-1'), 401);
  expectError(await signIn(limited, 'guess-2'), 401);
  expectError(await whoAmI(limited, withId(cookie, 'A')), 401);
  expectError(await signIn(limited, 'guess-3'), 429, /3 failed authentications a minute/);
  expectError(await whoAmI(limited, withId(cookie, 'B')), 429);
  expect((await whoAmI(limited, cookie)).status).toBe(200);
  expect((await signIn(limited, limited.managementKey)).status).toBe(200);
  await limited.close();
});
