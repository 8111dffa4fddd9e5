// Sign-in of people by an identity provider, from the button to the session. Contract: docs/contract.md#people.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { FROM_PAGE, setCookies, whoAmI } from '../../support/app/console.js';
import { ask } from '../../support/requests/admin.js';
import { CLIENT, startIdentityProvider } from '../../support/sign-in/identity-provider.js';
import type { IdentityProvider } from '../../support/sign-in/identity-provider.js';
import {
  begin,
  CALLBACK,
  clickSignIn,
  createSignInApp,
  followCallback,
  mapGroup,
  PUBLIC_URL,
  sessionOf,
  sessionShown,
  visitAs,
} from '../../support/sign-in/sign-in-app.js';

const ANN = {
  sub: 'ann',
  email: 'ann@example.com',
  email_verified: true,
  given_name: 'Ann',
  family_name: 'Lee',
};

let provider: IdentityProvider;
let app: TestApp;
beforeAll(async () => {
  provider = await startIdentityProvider({ redirectUrls: [CALLBACK] });
  app = await createSignInApp(provider.issuer);
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

describe('GET /console/sign-in', () => {
  it('lists the buttons of the sign-in page', async () => {
    const response = await app.http.get('/console/sign-in');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ data: [{ id: 'oidc', name: new URL(provider.issuer).host }] });
  });
});

describe('GET /console/sign-in/{id}', () => {
  it('sends the browser to the issuer, with state, nonce and an S256 challenge', async () => {
    const response = await clickSignIn(app, { returnTo: '/keys' });
    expect(response.status).toBe(303);
    expect(response.headers['cache-control']).toBe('no-store');
    const url = new URL(String(response.headers['location']));
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: CLIENT.id,
      redirect_uri: CALLBACK,
      response_type: 'code',
      response_mode: 'query',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    expect(setCookies(response)).toEqual([
      expect.stringMatching(
        /^__Host-signalbox_sign_in_[\da-f]{8}=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
  });

  it('has new values each time, and the redirect address of PUBLIC_URL whatever Host says', async () => {
    const one = await clickSignIn(app, {
      headers: { ...FROM_PAGE, host: 'e.com', 'x-forwarded-host': 'e.com' },
    });
    const other = await clickSignIn(app);
    const [first, second] = [one, other].map(
      ({ headers }) => new URL(String(headers['location'])).searchParams,
    );
    expect(first?.get('redirect_uri')).toBe(CALLBACK);
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(first?.get(name)).not.toBe(second?.get(name));
  });

  it.each([['cross-site'], ['same-site'], [undefined]])(
    'leads to our own sign-in page from a link of another site: Sec-Fetch-Site %s (V35)',
    async (site) => {
      const headers = site === undefined ? {} : { 'sec-fetch-site': site };
      const response = await clickSignIn(app, { returnTo: '/keys?a=b', headers });
      expect(response.status).toBe(303);
      expect(response.headers['location']).toBe(`${PUBLIC_URL}/sign-in?from=%2Fkeys%3Fa%3Db`);
      expect(setCookies(response)).toEqual([]);
    },
  );

  it('leads to our own sign-in page for an unknown provider', async () => {
    const response = await clickSignIn(app, { id: 'other' });
    expect(response.headers['location']).toBe(`${PUBLIC_URL}/sign-in?from=%2F`);
  });
});

describe('a sign-in', () => {
  it('opens a session of the person by a Strict and Secure cookie behind a proxy, and returns to the page', async () => {
    provider.person = ANN;
    const { location, cookie } = await begin(app, { returnTo: '/keys?workspace=a' });
    const response = await followCallback(app, await provider.visit(location), cookie);
    expect(response.status).toBe(303);
    expect(response.headers['location']).toBe(`${PUBLIC_URL}/keys?workspace=a`);
    expect(response.headers['cache-control']).toBe('no-store');
    expect(setCookies(response)).toEqual([
      expect.stringMatching(/^__Host-signalbox_sign_in_[\da-f]{8}=; Path=\/; Max-Age=0; /),
      expect.stringMatching(
        /^__Host-signalbox_session_[\da-f]{8}=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
      ),
    ]);
    const shown = await whoAmI(app, sessionOf(response));
    const now = app.clock.now().getTime();
    expect(shown.body).toEqual({
      data: {
        kind: 'person',
        is_management_key: false,
        person: {
          id: expect.stringMatching(/^usr_[\da-f]{32}$/),
          email: 'ann@example.com',
          first_name: 'Ann',
          last_name: 'Lee',
        },
        account_role: null,
        workspaces: [],
        rights: {},
        account_id: app.accountId,
        account_name: 'Test account',
        workspace_id: null,
        workspace_name: null,
        can_change_catalogue: false,
        provider_id: 'oidc',
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + 60 * 60_000).toISOString(),
        renew_at: new Date(now + 55 * 60_000).toISOString(),
      },
    });
  });

  it('of a person without a role is refused by every operation', async () => {
    const cookie = sessionOf(await visitAs(app, provider, ANN));
    const response = await app.http.get('/api/v1/organization/members').set({ ...FROM_PAGE, cookie });
    expect(response.status).toBe(403);
    expect(response.body).toMatchObject({ error: { metadata: { error_type: 'permission_denied' } } });
  });

  it('is the same person each time, and never stores a token of the issuer', async () => {
    const first = await sessionShown(app, sessionOf(await visitAs(app, provider, ANN)));
    const second = await sessionShown(
      app,
      sessionOf(await visitAs(app, provider, { ...ANN, email: 'new@example.com' })),
    );
    expect(second.person).toMatchObject({ id: first.person.id, email: 'new@example.com' });
    const rows = await app.sql<{ row: string }>(
      'SELECT to_jsonb(p)::text AS row FROM persons p UNION ALL SELECT to_jsonb(s)::text FROM console_sessions s',
    );
    for (const { row } of rows) expect(row).not.toMatch(/eyJ|token/);
  });

  it('has its role at once, by the groups of the first sign-in (V41)', async () => {
    await mapGroup(app, { issuer: provider.issuer, group: 'platform', role: 'admin' });
    await mapGroup(app, {
      issuer: provider.issuer,
      group: 'search',
      role: 'member',
      workspace_id: app.workspaceId,
    });
    const cookie = sessionOf(await visitAs(app, provider, { sub: 'bob', groups: ['platform', 'search'] }));
    const shown = await sessionShown(app, cookie);
    expect(shown).toMatchObject({
      account_role: 'admin',
      workspaces: [{ workspace_id: app.workspaceId, role: 'member' }],
      workspace_id: app.workspaceId,
      workspace_name: 'Default',
    });
    expect(shown.rights['people.change']).toEqual({ workspace_ids: null, own: null });
    expect((await app.http.get('/api/v1/organization/members').set({ ...FROM_PAGE, cookie })).status).toBe(
      200,
    );
  });

  it('is recorded when it creates a person or changes roles, and not otherwise', async () => {
    const person = { sub: 'carl', groups: ['search'], email: 'carl@example.com' };
    const { person: shown } = await sessionShown(app, sessionOf(await visitAs(app, provider, person)));
    app.clock.advance(1_000);
    await visitAs(app, provider, person);
    await visitAs(app, provider, { ...person, groups: [] });
    const { body } = await ask(app, 'get', `/audit?object_type=person&object_id=${shown.id}`);
    expect(body).toMatchObject({
      data: [
        {
          action: 'update',
          before: { state: 'active', workspaces: [{ role: 'member' }] },
          after: { state: 'waiting', workspaces: [] },
        },
        { action: 'create', before: null, after: { email: 'carl@example.com', state: 'active' } },
      ],
    });
    expect((body as { data: unknown[] }).data).toHaveLength(2);
  });
});

describe('two sign-ins in one browser', () => {
  it('of two tabs: the second works, and the first says that it starts again (V36)', async () => {
    provider.person = { ...ANN, groups: [] };
    const first = await begin(app);
    const second = await begin(app);
    const callback = await provider.visit(first.location);
    const late = await followCallback(app, callback, second.cookie);
    expect(late.status).toBe(400);
    expect(late.text).toContain('Start the sign-in again');
    const again = await begin(app);
    const response = await followCallback(app, await provider.visit(again.location), again.cookie);
    expect(response.status).toBe(303);
  });

  it('while signed in opens another session, and the former stays until its end (V36)', async () => {
    const person = { ...ANN, groups: [] };
    const one = sessionOf(await visitAs(app, provider, person));
    const other = sessionOf(await visitAs(app, provider, person));
    expect(other).not.toBe(one);
    for (const cookie of [one, other]) expect((await whoAmI(app, cookie)).status).toBe(200);
  });
});

describe('a provider with claims in userinfo alone', () => {
  it('signs in a public client by PKCE, with address and groups of userinfo (V44)', async () => {
    const other = await startIdentityProvider({
      redirectUrls: [CALLBACK],
      claimsIn: 'userinfo',
      isPublic: true,
    });
    const service = await createSignInApp(other.issuer, { environment: { OIDC_CLIENT_SECRET: '' } });
    try {
      await mapGroup(service, { issuer: other.issuer, group: 'platform', role: 'viewer' });
      const person = { ...ANN, groups: ['platform'] };
      const shown = await sessionShown(service, sessionOf(await visitAs(service, other, person)));
      expect(shown).toMatchObject({ account_role: 'viewer', person: { email: 'ann@example.com' } });
      expect(other.requests).toContain('/me');
    } finally {
      await service.close();
      await other.close();
    }
  });
});

describe('a provider without an account', () => {
  it('signs in to the only one, and to none when there are several', async () => {
    const service = await createTestApp({
      clock: app.clock,
      environment: {
        PUBLIC_URL,
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: CLIENT.id,
        OIDC_CLIENT_SECRET: CLIENT.secret,
      },
    });
    try {
      expect((await visitAs(service, provider, ANN)).status).toBe(303);
      await service.createAccount();
      const response = await visitAs(service, provider, ANN);
      expect([response.status, response.text]).toEqual([503, expect.stringContaining('OIDC_ACCOUNT')]);
    } finally {
      await service.close();
    }
  });
});

describe('a service without a provider', () => {
  it('lists no button, and leads to the sign-in page', async () => {
    const plain = await createTestApp({ environment: { PUBLIC_PATH: '/signalbox' } });
    try {
      expect((await plain.http.get('/console/sign-in')).body).toEqual({ data: [] });
      const response = await clickSignIn(plain);
      expect([response.status, response.headers['location']]).toEqual([303, '/signalbox/sign-in']);
      const callback = await followCallback(plain, CALLBACK);
      expect(callback.status).toBe(400);
    } finally {
      await plain.close();
    }
  });
});
