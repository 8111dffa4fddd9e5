// Answers of issuers that must not sign anyone in. Contract: docs/contract.md#people.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'supertest';
import type { TestApp } from '../../support/app/app.js';
import { cookieOf, setCookies } from '../../support/app/console.js';
import { CLIENT, startIdentityProvider } from '../../support/sign-in/identity-provider.js';
import {
  answerWith,
  begin,
  CALLBACK,
  clickSignIn,
  createSignInApp,
  currentClock,
  followCallback,
  mapGroup,
  sessionOf,
  sessionShown,
  visitAs,
} from '../../support/sign-in/sign-in-app.js';
import { startTokenIssuer } from '../../support/sign-in/token-issuer.js';
import type { IssuerAnswer, TokenIssuer } from '../../support/sign-in/token-issuer.js';

const INVALID = 'The answer of the identity provider is not valid.';
const MINUTE = 60_000;

const clock = currentClock();
let issuer: TokenIssuer;
let app: TestApp;
beforeAll(async () => {
  issuer = await startTokenIssuer(() => clock.now());
  app = await createSignInApp(issuer.issuer, { clock });
});
afterAll(async () => {
  await app.close();
  await issuer.close();
});
afterEach(() => {
  issuer.answer = {};
});

async function sessions(): Promise<number> {
  const [row] = await app.sql<{ count: number }>('SELECT count(*)::int FROM console_sessions');
  return row?.count ?? 0;
}

function expectPage(response: Response, status: number, text: string): void {
  expect([response.status, response.text]).toEqual([status, expect.stringContaining(text)]);
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-security-policy': expect.stringContaining("default-src 'none'"),
  });
  expect(response.text).toContain(`Request ${response.headers['x-request-id']}`);
  expect(response.text).not.toMatch(/<script|eyJ/);
  expect(setCookies(response)).toEqual([expect.stringContaining('Max-Age=0')]);
}

it('signs in by a valid answer, with the secret of the client and the verifier', async () => {
  const shown = await sessionShown(app, sessionOf(await answerWith(app, issuer)));
  expect(shown.person.email).toBe('ann@example.com');
  const sent = issuer.tokenRequests.at(-1);
  expect(sent?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
  expect(sent?.get('grant_type')).toBe('authorization_code');
});

describe('a callback that this browser has not begun (V34)', () => {
  it.each<[string, (state: string, cookie: string) => { state: string | null; cookie: string | undefined }]>([
    ['without a cookie', (state) => ({ state, cookie: undefined })],
    ['with a changed cookie', (state, cookie) => ({ state, cookie: `${cookie.slice(0, -4)}AAAA` })],
    ['without a state', (_state, cookie) => ({ state: null, cookie })],
    ['with another state', (_state, cookie) => ({ state: 'x'.repeat(43), cookie })],
  ])('is refused %s, before any request for tokens', async (_name, change) => {
    const { location, cookie } = await begin(app);
    const callback = new URL(issuer.authorize(location));
    const changed = change(callback.searchParams.get('state') ?? '', cookie);
    if (changed.state === null) callback.searchParams.delete('state');
    else callback.searchParams.set('state', changed.state);
    const [requests, before] = [issuer.tokenRequests.length, await sessions()];
    expectPage(await followCallback(app, callback.href, changed.cookie), 400, 'Start the sign-in again');
    expect(issuer.tokenRequests).toHaveLength(requests);
    expect(await sessions()).toBe(before);
  });

  it('is refused after 10 minutes', async () => {
    const { location, cookie } = await begin(app);
    clock.advance(10 * MINUTE);
    expectPage(await followCallback(app, issuer.authorize(location), cookie), 400, 'Start the sign-in again');
  });
});

describe('an answer that fails a check (V48, V49)', () => {
  const foreign = 'https://e.com';
  it.each<[string, IssuerAnswer]>([
    ['no signature', { algorithm: 'none' }],
    ['a signature by the public key as a secret', { algorithm: 'HS256' }],
    ['a signature by another key', { algorithm: 'foreign-key' }],
    ['another audience', { claims: { aud: 'other' } }],
    ['no audience', { without: ['aud'] }],
    ['another party', { claims: { azp: 'other' } }],
    ['several audiences and no party', { claims: { aud: [CLIENT.id, 'other'] } }],
    ['another nonce', { claims: { nonce: 'other' } }],
    ['no nonce', { without: ['nonce'] }],
    ['another issuer in the token', { claims: { iss: foreign } }],
    ['another issuer in the callback', { callback: { iss: foreign } }],
    ['no issuer in the callback, which the metadata announces', { callback: { iss: null } }],
    ['no subject', { without: ['sub'] }],
    ['an empty subject', { claims: { sub: '' } }],
    ['a subject of 256 characters', { claims: { sub: 'x'.repeat(256) } }],
    ['no end', { without: ['exp'] }],
    ['no begin', { without: ['iat'] }],
    [
      'userinfo of another subject (V44)',
      { without: ['email'], userInfo: { sub: 'bob', email: 'bob@example.com' } },
    ],
    ['an error instead of tokens', { token: { status: 400, body: '{"error":"invalid_grant"}' } }],
    [
      'tokens without an ID token',
      { token: { status: 200, body: '{"access_token":"a","token_type":"Bearer"}' } },
    ],
    ['tokens that are no JSON', { token: { status: 200, body: '<html>eyJ' } }],
    ['no code', { callback: { code: null } }],
  ])('is refused with one text: %s', async (_name, answer) => {
    const before = await sessions();
    expectPage(await answerWith(app, issuer, answer), 403, INVALID);
    expect(await sessions()).toBe(before);
  });

  it('accepts 30 s of difference between clocks and refuses 120 s (V47)', async () => {
    const at = (seconds: number): number => Math.floor(clock.now().getTime() / 1_000) + seconds;
    const issuedAt = (seconds: number): IssuerAnswer => ({
      claims: { iat: at(seconds), exp: at(seconds + 300) },
    });
    for (const seconds of [0, 30, -30])
      expect((await answerWith(app, issuer, issuedAt(seconds))).status).toBe(303);
    expectPage(await answerWith(app, issuer, issuedAt(120)), 403, INVALID);
    expect((await answerWith(app, issuer, { claims: { exp: at(-30) } })).status).toBe(303);
    expectPage(await answerWith(app, issuer, { claims: { exp: at(-61) } }), 403, INVALID);
  });

  it('says the error code of an issuer that did not sign the person in, and no other word of it', async () => {
    const answer = { callback: { code: null, error: 'access_denied', error_description: '<b>eyJ</b>' } };
    const response = await answerWith(app, issuer, answer);
    expectPage(response, 403, 'The identity provider did not sign you in: access_denied.');
    expect(response.text).not.toContain('<b>');
  });

  it('counts as a failed authentication', async () => {
    const limited = await createSignInApp(issuer.issuer, {
      clock,
      environment: { RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '2' },
    });
    try {
      for (const status of [400, 400, 429]) {
        const { location } = await begin(limited);
        const response = await followCallback(limited, issuer.authorize(location));
        expectPage(response, status, 'Back to the sign-in page');
      }
    } finally {
      await limited.close();
    }
  });
});

describe('an issuer among several', () => {
  it('never gets a code of another one, nor answers in its place (V49)', async () => {
    const other = await startTokenIssuer(() => clock.now());
    const directory = mkdtempSync(join(tmpdir(), 'providers-'));
    const file = join(directory, 'providers.yaml');
    const entry = (id: string, address: string): string =>
      `- {id: ${id}, issuer: '${address}', client_id: ${CLIENT.id}, client_secret: ${CLIENT.secret}}\n`;
    writeFileSync(file, entry('one', issuer.issuer) + entry('two', other.issuer));
    const service = await createSignInApp('', {
      clock,
      environment: { OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '', OIDC_PROVIDERS_FILE: file },
    });
    try {
      const begun = await begin(service, { id: 'one' });
      const callback = issuer.authorize(begun.location).replace('/one/', '/two/');
      expectPage(await followCallback(service, callback, begun.cookie), 400, 'Start the sign-in again');
      const again = await begin(service, { id: 'one' });
      issuer.answer = { callback: { iss: other.issuer } };
      expectPage(await followCallback(service, issuer.authorize(again.location), again.cookie), 403, INVALID);
      expect(other.tokenRequests).toEqual([]);
      issuer.answer = {};
      for (const [id, server] of [
        ['one', issuer],
        ['two', other],
      ] as const) {
        const { location, cookie } = await begin(service, { id });
        expect((await followCallback(service, server.authorize(location), cookie)).status).toBe(303);
      }
      // One `sub` at two issuers is two people.
      const rows = await service.sql('SELECT id FROM persons');
      expect(rows).toHaveLength(2);
    } finally {
      await service.close();
      await other.close();
      rmSync(directory, { recursive: true });
    }
  });
});

describe('allowed domains (V39)', () => {
  it.each<[string, IssuerAnswer, number]>([
    ['a verified address in it', {}, 303],
    ['an address that is not verified', { claims: { email_verified: false } }, 403],
    ['an address without a mark', { without: ['email_verified'] }, 403],
    ['a mark as a text', { claims: { email_verified: 'true' } }, 403],
    ['an address of another domain', { claims: { email: 'ann@example.org' } }, 403],
    ['no address', { without: ['email', 'email_verified'] }, 403],
  ])('admit %s, or not', async (_name, answer, status) => {
    const service = await createSignInApp(issuer.issuer, {
      clock,
      environment: { OIDC_ALLOWED_DOMAINS: 'example.com' },
    });
    try {
      const response = await answerWith(service, issuer, answer);
      expect(response.status).toBe(status);
      if (status === 403) expectPage(response, 403, 'in no domain that may sign in');
      expect(await service.sql('SELECT 1 FROM persons')).toHaveLength(status === 303 ? 1 : 0);
    } finally {
      await service.close();
    }
  });
});

describe('groups that the answer does not state', () => {
  const OVERAGE = {
    claims: {
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example.com' } },
    },
  };

  it('refuse the sign-in with the setting to change, and leave the roles unchanged (V43)', async () => {
    await mapGroup(app, { issuer: issuer.issuer, group: 'platform', role: 'admin' });
    const grouped = { claims: { sub: 'carl', groups: ['platform'] } };
    const shown = await sessionShown(app, sessionOf(await answerWith(app, issuer, grouped)));
    expect(shown.account_role).toBe('admin');
    const cut = await answerWith(app, issuer, { claims: { sub: 'carl', ...OVERAGE.claims } });
    expectPage(cut, 403, 'more groups than the identity provider puts into the claim groups');
    const missing = await answerWith(app, issuer, { claims: { sub: 'carl' }, userInfo: { sub: 'carl' } });
    expectPage(missing, 403, 'sent no claim groups');
    expect(missing.text).toContain('OIDC_GROUPS_CLAIM');
    const rows = await app.sql<{ role: string }>(
      'SELECT group_role AS role FROM persons WHERE subject = $1',
      ['carl'],
    );
    expect(rows).toEqual([{ role: 'admin' }]);
  });

  it('do not create the person', async () => {
    await answerWith(app, issuer, { claims: { sub: 'new', ...OVERAGE.claims } });
    expect(await app.sql('SELECT 1 FROM persons WHERE subject = $1', ['new'])).toEqual([]);
  });
});

describe('an issuer that is down', () => {
  it('stops neither start nor readiness nor sign-in by key, and works without a restart when it is back (V45)', async () => {
    const placeholder = createServer();
    await new Promise<void>((resolve) => placeholder.listen(0, '127.0.0.1', resolve));
    const { port } = placeholder.address() as { port: number };
    await new Promise((resolve) => placeholder.close(resolve));
    const service = await createSignInApp(`http://127.0.0.1:${port}`);
    try {
      expect((await service.http.get('/ready')).status).toBe(200);
      expect(await cookieOf(service, service.managementKey)).toContain('signalbox_session_');
      const down = await clickSignIn(service);
      expect([down.status, down.text]).toEqual([503, expect.stringContaining('cannot be reached')]);
      const provider = await startIdentityProvider({ redirectUrls: [CALLBACK], port });
      try {
        expect((await clickSignIn(service)).status).toBe(503);
        service.clock.advance(30_000);
        expect((await visitAs(service, provider, { sub: 'ann' })).status).toBe(303);
        // Discovery is kept.
        await clickSignIn(service);
        expect(provider.requests.filter((path) => path.startsWith('/.well-known/'))).toHaveLength(1);
        service.clock.advance(60 * MINUTE);
        await clickSignIn(service);
        expect(provider.requests.filter((path) => path.startsWith('/.well-known/'))).toHaveLength(2);
      } finally {
        await provider.close();
      }
    } finally {
      await service.close();
    }
  });

  it('is tried again for a failure of its token endpoint, which counts as no failed authentication', async () => {
    const response = await answerWith(app, issuer, { token: { status: 503, body: 'down' } });
    expectPage(response, 503, 'The identity provider cannot be reached');
  });

  it.each<[string, Record<string, unknown>]>([
    ['another name of itself', { issuer: 'https://e.com' }],
    ['the template of any tenant', { issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' }],
    ['no keys', { jwks_uri: undefined }],
  ])('counts as down with %s', async (_name, metadata) => {
    const strange = await startTokenIssuer(() => clock.now());
    strange.answer = { metadata };
    const service = await createSignInApp(strange.issuer, { clock });
    try {
      expect((await clickSignIn(service)).status).toBe(503);
    } finally {
      await service.close();
      await strange.close();
    }
  });
});

describe('keys of an issuer', () => {
  const GROUPED = { claims: { groups: [] } };

  it('are read again once a minute when they change (V46)', async () => {
    expect((await answerWith(app, issuer, GROUPED)).status).toBe(303);
    await issuer.rotate();
    const downloads = (): number => issuer.requests.filter((path) => path === '/jwks').length;
    const before = downloads();
    expectPage(await answerWith(app, issuer, GROUPED), 403, INVALID);
    const real = Date.now.bind(Date);
    const later = jest.spyOn(Date, 'now').mockImplementation(() => real() + MINUTE);
    try {
      expect((await answerWith(app, issuer, GROUPED)).status).toBe(303);
      expect((await answerWith(app, issuer, GROUPED)).status).toBe(303);
      expect(downloads()).toBe(before + 1);
    } finally {
      later.mockRestore();
    }
  });
});
