// POST /auth/keys/code and POST /auth/keys: a program on a person's machine gets a key.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { DeletedRows } from '../../../src/upkeep/deleted-rows.js';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

type Members = Readonly<Record<string, unknown>>;

const VERIFIER = 'a-verifier-of-a-program-on-a-laptop-0123456789';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const GOOD = {
  callback_url: 'http://localhost:8976/callback',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};
const DAY = 86_400_000;

let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  app = await createTestApp({
    environment: {
      AUTH_CALLBACK_HOSTS: 'app.example.com',
      RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0',
    },
  });
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

async function codeFor(members: Members = {}, key = app.managementKey): Promise<string> {
  const body = { ...GOOD, ...members };
  const { data } = await askFor<{ data: { id: string } }>(200, app, 'post', '/auth/keys/code', { body, key });
  return data.id;
}
const exchange = (code: string, members: Members = {}, one = app) =>
  one.http.post('/api/v1/auth/keys').send({ code, code_verifier: VERIFIER, ...members });
async function signIn(members: Members = {}, key = app.managementKey): Promise<string> {
  const response = await exchange(await codeFor(members, key));
  expect([response.status, response.body]).toEqual([200, { key: expect.any(String), user_id: null }]);
  return (response.body as { key: string }).key;
}
const recordOf = async (key: string): Promise<Members> =>
  (await askFor<{ data: Members }>(200, app, 'get', '/key', { key })).data;
const statusOf = async (key: string, one = app): Promise<number> =>
  (await ask(one, 'get', '/key', { key })).status;

describe('a code', () => {
  it('is exchanged for a key with the terms of the consent, and the audit log names who consented', async () => {
    const response = await ask(app, 'post', '/auth/keys/code', {
      body: {
        ...GOOD,
        key_label: 'laptop',
        limit: 12.5,
        usage_limit_type: 'weekly',
        expires_at: '2027-01-31T12:00:00Z',
        workspace_id: app.workspaceId,
      },
    });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({
      data: {
        id: expect.stringMatching(/^[\w-]{43}$/),
        app_id: 0,
        created_at: app.clock.now().toISOString(),
      },
    });
    const { id } = (response.body as { data: { id: string } }).data;
    expect(await app.sql('SELECT 1 FROM auth_codes WHERE code_hash = $1', [id])).toEqual([]);
    const exchanged = await exchange(id);
    const { key } = exchanged.body as { key: string };
    expect(key).toMatch(/^sk-sb-v1-[0-9a-f]{64}$/);
    expect(await recordOf(key)).toMatchObject({
      limit: 12.5,
      limit_reset: 'weekly',
      expires_at: '2027-01-31T12:00:00.000Z',
      is_management_key: false,
    });
    const hash = createHash('sha256').update(key).digest('hex');
    const { data: entries } = await askFor<{ data: Members[] }>(200, app, 'get', `/audit?object_id=${hash}`);
    expect(entries).toMatchObject([
      {
        action: 'create',
        actor: { key_hash: createHash('sha256').update(app.managementKey).digest('hex') },
        after: { name: 'laptop' },
      },
    ]);
  });

  it('stands for a key of 90 days with the name of the application, unless it says otherwise', async () => {
    const response = await app.http
      .post('/api/v1/auth/keys/code')
      .set('authorization', `Bearer ${app.managementKey}`)
      .set('x-openrouter-title', 'Editor')
      .send(GOOD);
    const { key } = (await exchange((response.body as { data: { id: string } }).data.id)).body as {
      key: string;
    };
    const { expires_at: end } = await recordOf(key);
    expect(Date.parse(String(end)) - app.clock.now().getTime()).toBe(90 * DAY);
    const names = async () =>
      (await askFor<{ data: { name: string }[] }>(200, app, 'get', '/keys')).data.map(({ name }) => name);
    expect(await names()).toContain('Editor');
    expect(await recordOf(await signIn({ expires_at: null }))).toMatchObject({
      expires_at: null,
      limit: null,
    });
    expect(await names()).toContain('Command line');
  });

  it('is refused with one text for a wrong verifier, twice, after 5 minutes, unknown, and of a maker that is gone (V63)', async () => {
    const refused = async (code: string, members: Members = {}): Promise<void> => {
      expectError(await exchange(code, members), 403, 'Code not accepted');
    };
    const wrong = await codeFor();
    await refused(wrong, { code_verifier: VERIFIER.toUpperCase() });
    // The wrong verifier has spent it.
    await refused(wrong);
    const twice = await codeFor({ key_label: 'twice' });
    expect((await exchange(twice)).status).toBe(200);
    await refused(twice);
    const late = await codeFor();
    app.clock.advance(300_000);
    await refused(late);
    await refused('sesame');
    const { data, key } = await askFor<{ data: { hash: string }; key: string }>(201, app, 'post', '/keys', {
      body: { name: 'Admin', is_management_key: true },
    });
    const ofDisabled = await codeFor({ key_label: 'gone' }, key);
    await askFor(200, app, 'patch', `/keys/${data.hash}`, { body: { disabled: true } });
    await refused(ofDisabled);
    expect(await app.sql("SELECT 1 FROM api_keys WHERE name = 'gone'")).toEqual([]);
  });

  it('is exchanged a moment before its 5 minutes end, and once by two processes at a time', async () => {
    const code = await codeFor({ key_label: 'race' });
    app.clock.advance(299_999);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => exchange(code, {}, index % 2 === 0 ? app : replica)),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      '200',
      ...Array.from({ length: 7 }, () => '403'),
    ]);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://[::1]:65535/callback?state=x',
    'http://localhost:49152',
    'https://app.example.com/callback',
  ])('may be sent to %s (V63)', async (callback) => {
    expect((await exchange(await codeFor({ callback_url: callback }))).status).toBe(200);
  });

  it.each(['http://127.0.0.1@e.com', 'http://localhost.e.com', 'javascript:alert(1)', 'https://e.com'])(
    'may not be sent to %s (V64)',
    async (callback) => {
      const response = await ask(app, 'post', '/auth/keys/code', {
        body: { ...GOOD, callback_url: callback },
      });
      expect(expectError(response, 400)).toContain('callback_url: must');
    },
  );

  it.each<[Members, string]>([
    [{ code_challenge: undefined }, 'code_challenge: must be a SHA-256 in base64url, 43 characters'],
    [{ code_challenge: VERIFIER }, 'code_challenge: must be a SHA-256 in base64url, 43 characters'],
    [{ code_challenge_method: 'plain' }, 'code_challenge_method: must be one of S256'],
    [{ code_challenge_method: undefined }, 'code_challenge_method: must be one of S256'],
    [{ key_label: '' }, 'key_label: must not be empty'],
    [{ key_label: 'x'.repeat(201) }, 'key_label: must have at most 200 characters'],
    [{ limit: -1 }, 'limit: must not be negative'],
    [{ limit: 1e-13 }, 'limit: must be 0 or at least 1e-12'],
    [{ usage_limit_type: 'yearly' }, 'usage_limit_type: must be one of daily, weekly, monthly'],
    [{ expires_at: '2020-01-31T12:00:00Z' }, 'expires_at: must be in the future'],
    [{ workspace_id: '019a960b-d800-7000-8000-000000000000' }, 'workspace_id: no such workspace'],
    [{ creator_user_id: 'another' }, 'creator_user_id: is not a member of this object'],
  ])('with %j is refused', async (members, problem) => {
    const response = await ask(app, 'post', '/auth/keys/code', { body: { ...GOOD, ...members } });
    expect(expectError(response, 400)).toContain(problem);
  });

  it.each<[Members, string]>([
    [{ code: undefined }, 'code: must be a string'],
    [{ code_verifier: undefined }, 'code_verifier: must have 43 to 128 letters, digits and -._~'],
    [{ code_verifier: 'short' }, 'code_verifier: must have 43 to 128 letters, digits and -._~'],
    [{ code_challenge_method: 'plain' }, 'code_challenge_method: must be one of S256'],
  ])('is not spent by an exchange without a form: %j', async (members, problem) => {
    const code = await codeFor();
    expect(expectError(await exchange(code, members), 400)).toContain(problem);
    expect((await exchange(code)).status).toBe(200);
  });

  it('is made by management keys, 100 times in an account until they end, and removed by upkeep', async () => {
    expectError(await ask(app, 'post', '/auth/keys/code', { body: GOOD, key: app.apiKey }), 403);
    const account = await app.createAccount();
    const create = () => ask(app, 'post', '/auth/keys/code', { body: GOOD, key: account.managementKey });
    const answers = await Promise.all(Array.from({ length: 102 }, create));
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    app.clock.advance(300_000);
    expect((await create()).status).toBe(200);
    app.clock.advance(1);
    await app.application.get(DeletedRows).purge();
    expect(await app.sql('SELECT 1 FROM auth_codes WHERE account_id = $1', [account.accountId])).toHaveLength(
      1,
    );
  });

  it('counts as a failed authentication of its address when it is refused', async () => {
    const strict = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '2' } });
    try {
      const statuses = [];
      for (let count = 0; count < 3; count++) statuses.push((await exchange('sesame', {}, strict)).status);
      expect(statuses).toEqual([403, 403, 429]);
    } finally {
      await strict.close();
    }
  });
});

describe('a repeated sign-in', () => {
  it('with one label replaces the secret of one key at once, with the new terms', async () => {
    const first = await signIn({ key_label: 'desk', limit: 1 });
    expect(await statusOf(first, replica)).toBe(200);
    const second = await signIn({ key_label: 'desk', limit: 2, usage_limit_type: 'daily' });
    expect(await statusOf(first)).toBe(401);
    await eventually(
      () => statusOf(first, replica),
      (status) => status === 401,
    );
    expect(await recordOf(second)).toMatchObject({ limit: 2, limit_reset: 'daily' });
    const rows = await app.sql<{ hash: string }>("SELECT hash FROM api_keys WHERE name = 'desk'");
    expect(rows).toHaveLength(1);
    const { data } = await askFor<{ data: Members[] }>(200, app, 'get', `/audit?object_id=${rows[0]?.hash}`);
    expect(data.map(({ action }) => String(action)).toSorted()).toEqual(['create', 'rotate']);
  });

  it('at the same time in two processes shares one key', async () => {
    const codes = await Promise.all([codeFor({ key_label: 'both' }), codeFor({ key_label: 'both' })]);
    const answers = await Promise.all(
      codes.map((code, index) => exchange(code, {}, index === 0 ? app : replica)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await app.sql("SELECT 1 FROM api_keys WHERE name = 'both'")).toHaveLength(1);
  });

  it('leaves keys of the same name that no sign-in made, and those of other makers', async () => {
    const { key: made } = await askFor<{ key: string }>(201, app, 'post', '/keys', {
      body: { name: 'shared' },
    });
    const mine = await signIn({ key_label: 'shared' });
    const { key: other } = await askFor<{ key: string }>(201, app, 'post', '/keys', {
      body: { name: 'Other admin', is_management_key: true },
    });
    const theirs = await signIn({ key_label: 'shared' }, other);
    for (const key of [made, mine, theirs]) expect(await statusOf(key)).toBe(200);
  });

  it('revives an expired key, makes another in place of a deleted one, and never enables a disabled one', async () => {
    const soon = new Date(app.clock.now().getTime() + 1_000).toISOString();
    const expired = await signIn({ key_label: 'again', expires_at: soon });
    app.clock.advance(1_000);
    expect(await statusOf(expired)).toBe(401);
    const revived = await signIn({ key_label: 'again' });
    expect(await statusOf(revived)).toBe(200);
    const [row] = await app.sql<{ hash: string }>("SELECT hash FROM api_keys WHERE name = 'again'");
    await askFor(200, app, 'delete', `/keys/${row?.hash}`);
    const another = await signIn({ key_label: 'again' });
    expect(await statusOf(another)).toBe(200);
    const [, second] = await app.sql<{ hash: string }>(
      "SELECT hash FROM api_keys WHERE name = 'again' ORDER BY created_at, id",
    );
    await askFor(200, app, 'patch', `/keys/${second?.hash}`, { body: { disabled: true } });
    const response = await exchange(await codeFor({ key_label: 'again' }));
    expectError(response, 403, 'Code not accepted: the key of this label is disabled');
    expect(await statusOf(another)).toBe(401);
  });
});

it('the SDK signs in with its own operations', async () => {
  const management = new OpenRouter({
    serverURL: app.baseUrl,
    apiKey: app.managementKey,
    retryConfig: { strategy: 'none' },
  });
  const { codeChallenge, codeVerifier } = await management.oAuth.createSHA256CodeChallenge();
  const { data } = await management.oAuth.createAuthCode({
    requestBody: {
      callbackUrl: 'http://localhost:3000/callback',
      codeChallenge,
      codeChallengeMethod: 'S256',
      keyLabel: 'sdk',
      limit: 5,
      usageLimitType: 'monthly',
      expiresAt: new Date('2027-01-31T12:00:00Z'),
      workspaceId: app.workspaceId,
    },
  });
  const anonymous = new OpenRouter({ serverURL: app.baseUrl, retryConfig: { strategy: 'none' } });
  const exchanged = await anonymous.oAuth.exchangeAuthCodeForAPIKey({
    requestBody: { code: data.id, codeVerifier, codeChallengeMethod: 'S256' },
  });
  expect(exchanged).toEqual({ key: expect.stringMatching(/^sk-sb-v1-/), userId: null });
  await expect(
    anonymous.oAuth.exchangeAuthCodeForAPIKey({ requestBody: { code: data.id, codeVerifier } }),
  ).rejects.toMatchObject({ statusCode: 403 });
});
