// POST /oauth/token: tokens of issuers, and the access tokens that they are exchanged for.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import {
  AUDIENCE,
  createPolicy,
  exchange,
  exchanged,
  formOf,
  goodClaims,
  ISSUER,
  SUBJECT,
} from '../../support/federation/exchange.js';
import { createSigningKey } from '../../support/federation/issuer.js';
import type { SigningKey } from '../../support/federation/issuer.js';
import { ask, askFor } from '../../support/requests/admin.js';
import { expectError } from '../../support/requests/error-shape.js';

const TOKEN = /^sk-sb-t1-[0-9a-f]{64}$/;
const REFUSED = { error: 'invalid_grant', error_description: 'the subject token is not accepted' };

let app: TestApp;
let replica: TestApp;
let key: SigningKey;
beforeAll(async () => {
  app = await createTestApp({
    environment: {
      RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0',
      RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
      RATE_LIMIT_CHANGES_PER_MINUTE: '0',
    },
  });
  replica = await app.startReplica();
  key = await createSigningKey('key-1');
});
afterAll(async () => {
  await replica.close();
  await app.close();
});

// An account has 50.
afterEach(() => app.sql('DELETE FROM federation_policies'));

const statusAt = async (one: TestApp, secret: string): Promise<number> =>
  (await ask(one, 'get', '/key', { key: secret })).status;

describe('an exchange', () => {
  it('answers an access token that acts as the key of the policy, and is not stored', async () => {
    const policy = await createPolicy(app, [key]);
    const response = await exchange(app, formOf(policy.id, await key.sign(goodClaims(app))));
    expect(response.status).toBe(200);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.body).toEqual({
      access_token: expect.stringMatching(TOKEN),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'inference',
    });
    const { access_token: token } = response.body as { access_token: string };
    for (const one of [app, replica]) {
      const { data } = await askFor<{ data: { label: string } }>(200, one, 'get', '/key', { key: token });
      expect(data.label).toBe(app.key.label);
    }
    expect(await app.sql("SELECT 1 FROM api_key_secrets WHERE secret_hash LIKE 'sk-%'")).toEqual([]);
  });

  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'] as const)(
    'takes a token signed with %s',
    async (algorithm) => {
      const signer = await createSigningKey('another', algorithm);
      const policy = await createPolicy(app, [signer]);
      expect(await exchanged(app, policy.id, signer)).toMatch(TOKEN);
    },
  );

  it('is repeated with one token, for mounted tokens are shared', async () => {
    const policy = await createPolicy(app, [key]);
    const form = formOf(policy.id, await key.sign(goodClaims(app)));
    const tokens = [await exchange(app, form), await exchange(replica, form)].map(
      ({ body }) => (body as { access_token: string }).access_token,
    );
    expect(new Set(tokens).size).toBe(2);
    for (const token of tokens) expect(await statusAt(app, token)).toBe(200);
  });

  it('works by the SDK, which reads its answer and its errors', async () => {
    const policy = await createPolicy(app, [key]);
    const client = new OpenRouter({ serverURL: app.baseUrl, retryConfig: { strategy: 'none' } });
    const request = {
      grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt',
      federationPolicyId: policy.id,
      scope: 'inference',
      requestedTokenType: 'urn:ietf:params:oauth:token-type:access_token',
    } as const;
    const issued = await client.oAuth.createOauthToken({
      tokenExchangeRequest: { ...request, subjectToken: await key.sign(goodClaims(app)) },
    });
    expect(issued).toMatchObject({ accessToken: expect.stringMatching(TOKEN), expiresIn: 600 });
    await expect(
      client.oAuth.createOauthToken({ tokenExchangeRequest: { ...request, subjectToken: 'no token' } }),
    ).rejects.toMatchObject({ statusCode: 400, error: 'invalid_grant' });
  });

  it('covers every subject behind a star, and none beside it', async () => {
    const policy = await createPolicy(app, [key], { subject: 'repo:acme/shop:*' });
    const statusFor = async (sub: string) =>
      (await exchange(app, formOf(policy.id, await key.sign({ ...goodClaims(app), sub })))).status;
    expect(await statusFor('repo:acme/shop:ref:refs/heads/any')).toBe(200);
    for (const sub of ['repo:acme/shop:', 'repo:acme/shop', 'repo:acme/shop-2:ref:x', 'xrepo:acme/shop:y'])
      expect(await statusFor(sub)).toBe(400);
  });
});

describe('a token that the policy does not take', () => {
  const other = createSigningKey('key-1');
  const seconds = (app_: TestApp): number => Math.floor(app_.clock.now().getTime() / 1_000);

  it.each<[string, () => Promise<string>]>([
    ['another audience', () => key.sign({ ...goodClaims(app), aud: 'https://other.example.com' })],
    ['no audience', () => key.sign({ ...goodClaims(app), aud: undefined })],
    ['a longer audience', () => key.sign({ ...goodClaims(app), aud: `${AUDIENCE}/` })],
    ['another issuer with the same kid', async () => (await other).sign(goodClaims(app))],
    ['the name of another issuer', () => key.sign({ ...goodClaims(app), iss: `${ISSUER}/` })],
    ['repo:org/app-2 for repo:org/app', () => key.sign({ ...goodClaims(app), sub: `${SUBJECT}-2` })],
    ['a life of 48 hours', () => key.sign({ ...goodClaims(app), exp: seconds(app) + 48 * 3_600 })],
    ['no end', () => key.sign({ ...goodClaims(app), exp: undefined })],
    ['an end that is over', () => key.sign({ ...goodClaims(app), exp: seconds(app) - 61 })],
    ['an end within the tolerance', () => key.sign({ ...goodClaims(app), exp: seconds(app) - 30 })],
    ['a beginning in 61 seconds', () => key.sign({ ...goodClaims(app), nbf: seconds(app) + 61 })],
    ['a time in the future', () => key.sign({ ...goodClaims(app), iat: seconds(app) + 61 })],
    ['no time of issue', () => key.sign({ ...goodClaims(app), iat: undefined })],
    ['no subject', () => key.sign({ ...goodClaims(app), sub: undefined })],
    ['another claim', () => key.sign({ ...goodClaims(app), environment: 'staging' })],
    ['a claim of another type', () => key.sign({ ...goodClaims(app), environment: ['production'] })],
    ['an unknown kid', async () => (await createSigningKey('key-2')).sign(goodClaims(app))],
    [
      'the algorithm none',
      async () => {
        const [, payload = ''] = (await key.sign(goodClaims(app))).split('.');
        const header = Buffer.from(JSON.stringify({ alg: 'none', kid: 'key-1' })).toString('base64url');
        return `${header}.${payload}.`;
      },
    ],
    [
      'the algorithm HS256 by the public key',
      async () => {
        const { SignJWT } = await import('jose');
        const secret = new TextEncoder().encode(JSON.stringify(key.publicKey).padEnd(64));
        return new SignJWT(goodClaims(app)).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(secret);
      },
    ],
    ['a token of more than 16 KiB', () => key.sign({ ...goodClaims(app), x: 'x'.repeat(16_384) })],
    ['no token', async () => 'sesame'],
    ['three parts of no token', async () => 'e30.e30.e30'],
  ])('is invalid_grant with one text: %s (V65)', async (_name, tokenOf) => {
    const policy = await createPolicy(app, [key], { claims: { environment: 'production' } });
    const good = await key.sign({ ...goodClaims(app), environment: 'production' });
    expect((await exchange(app, formOf(policy.id, good))).status).toBe(200);
    const token = await tokenOf();
    const isBad = token !== good;
    expect(isBad).toBe(true);
    const response = await exchange(app, formOf(policy.id, token));
    expect([response.status, response.body]).toEqual([400, REFUSED]);
    expect(response.headers['cache-control']).toBe('no-store');
  });

  it('is refused alike for policies that are unknown, disabled or of a key that makes no calls', async () => {
    const token = await key.sign(goodClaims(app));
    const disabled = await createPolicy(app, [key], { enabled: false });
    const { record } = await app.createKey({ disabled: true });
    const ofDisabled = await createPolicy(app, [key], { api_key_hash: record.hash });
    const { record: deleted } = await app.createKey();
    const ofDeleted = await createPolicy(app, [key], { api_key_hash: deleted.hash });
    await askFor(200, app, 'delete', `/keys/${deleted.hash}`);
    const ids = [disabled.id, ofDisabled.id, ofDeleted.id, '019a960b-d800-7000-8000-000000000000', 'sesame'];
    for (const id of ids) {
      const response = await exchange(app, formOf(id, token));
      expect([id, response.status, response.body]).toEqual([id, 400, REFUSED]);
    }
  });

  it('counts as a failed authentication of its address', async () => {
    const strict = await createTestApp({ environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '2' } });
    try {
      const policy = await createPolicy(strict, [key]);
      const statuses = [];
      for (let count = 0; count < 3; count++)
        statuses.push((await exchange(strict, formOf(policy.id, 'sesame'))).status);
      expect(statuses).toEqual([400, 400, 429]);
      // A good token passes, whatever the others of its address do.
      expect(await exchanged(strict, policy.id, key)).toMatch(TOKEN);
    } finally {
      await strict.close();
    }
  });
});

describe('a form', () => {
  const send = async (change: Readonly<Record<string, string>>) => {
    const policy = await createPolicy(app, [key]);
    return exchange(app, { ...formOf(policy.id, await key.sign(goodClaims(app))), ...change });
  };

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ grant_type: 'authorization_code' }, 'unsupported_grant_type'],
    [{ grant_type: '' }, 'invalid_request'],
    [{ scope: 'admin' }, 'invalid_scope'],
    [{ scope: 'inference admin' }, 'invalid_scope'],
    [{ subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' }, 'invalid_request'],
    [{ requested_token_type: 'urn:ietf:params:oauth:token-type:jwt' }, 'invalid_request'],
    [{ subject_token: '' }, 'invalid_request'],
    [{ federation_policy_id: '' }, 'invalid_request'],
    [{ __proto__x: 'x', toString: 'x' }, 'invalid_request'],
  ])('with %j is %s', async (change, error) => {
    const response = await send(change);
    expectError(response, 400);
    expect((response.body as { error: string }).error).toBe(error);
  });

  it('may have parameters that the endpoint does not know', async () => {
    expect((await send({ client_id: 'shop', scope: '' })).status).toBe(200);
  });

  it.each<[string, string, string]>([
    ['application/json', '{}', 'the Content-Type header must be application/x-www-form-urlencoded'],
    ['application/x-www-form-urlencoded', 'scope=a&scope=b', 'a parameter of the form must not be repeated'],
    ['application/x-www-form-urlencoded', `a=${'x'.repeat(70_000)}`, 'the limit is 65536 bytes'],
    [
      'application/x-www-form-urlencoded',
      Array.from({ length: 51 }, (_, index) => `p${index}=1`).join('&'),
      'the form must have at most 50 parameters',
    ],
  ])('of the type %s with %.20s is refused', async (type, body, description) => {
    const response = await app.http.post('/api/v1/oauth/token').set('content-type', type).send(body);
    expectError(response, description.includes('bytes') ? 413 : 400, description);
    expect((response.body as { error: string }).error).toBe('invalid_request');
  });

  it('is taken by no other route', async () => {
    const response = await app.http
      .post('/api/v1/keys')
      .set('authorization', `Bearer ${app.managementKey}`)
      .type('form')
      .send({ name: 'x' });
    expectError(response, 400, /must be application\/json/);
  });
});
