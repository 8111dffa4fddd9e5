// An identity provider in this process: oidc-provider, which signs in the person that a test names.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import type { Configuration, Provider } from 'oidc-provider';

export const CLIENT = { id: 'gateway', secret: 'the-secret-of-the-client' };

/** The claims of a person; `sub` is the name. */
export interface ProviderPerson {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

export interface IdentityProvider {
  readonly issuer: string;
  /** Signed in by the next visit. */
  person: ProviderPerson;
  /** Paths of requests by the service, in order. */
  readonly requests: string[];
  /** The authorization requests that browsers sent. */
  readonly authorizations: URLSearchParams[];
  /** Follows the provider's pages in a browser of its own, up to the callback's address. */
  visit(location: string): Promise<string>;
  close(): Promise<void>;
}

export interface IdentityProviderOptions {
  readonly redirectUrls: readonly string[];
  /** Whether claims stand in the ID token, or in userinfo alone. */
  readonly claimsIn?: 'id_token' | 'userinfo';
  readonly isPublic?: true;
  readonly port?: number;
}

const SCOPED = {
  openid: ['sub', 'groups'],
  email: ['email', 'email_verified'],
  profile: ['given_name', 'family_name', 'name'],
};
const TO_SERVICE = /^\/(?:\.well-known\/|jwks|token|me)/;

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests: string[] = [];
  const authorizations: URLSearchParams[] = [];
  const state: Pick<IdentityProvider, 'person'> = { person: { sub: 'ann' } };
  const provider = await createProvider(issuer, options, state);
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', issuer);
    if (TO_SERVICE.test(url.pathname)) requests.push(url.pathname);
    if (url.pathname === '/auth') authorizations.push(url.searchParams);
    if (url.pathname.startsWith('/interaction/')) void interact(provider, state.person, request, response);
    else void answer(request, response);
  });
  return Object.assign(state, {
    issuer,
    requests,
    authorizations,
    visit: (location: string) => followRedirects(location, issuer),
    close: () => closeServer(server),
  });
}

async function createProvider(
  issuer: string,
  { redirectUrls, claimsIn = 'id_token', isPublic }: IdentityProviderOptions,
  state: Pick<IdentityProvider, 'person'>,
): Promise<Provider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT.id,
        ...(isPublic ? { token_endpoint_auth_method: 'none' } : { client_secret: CLIENT.secret }),
        redirect_uris: [...redirectUrls],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'first' }] },
    cookies: { keys: ['a test'] },
    claims: SCOPED,
    conformIdTokenClaims: claimsIn === 'userinfo',
    pkce: { required: () => true },
    // Seconds; without them it prints notices.
    ttl: {
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: 300,
      IdToken: 300,
      Interaction: 300,
      Session: 300,
    },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => Promise.resolve({ ...state.person, sub: accountId }),
    }),
    // Without a page that asks for consent.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session?.accountId ?? '',
        clientId: CLIENT.id,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
  return quietly(async () => {
    const { Provider: Created } = await import('oidc-provider');
    return new Created(issuer, configuration);
  });
}

/** It warns of Node 20 and of its store in memory, which suit tests. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result> {
  const { warn } = console;
  console.warn = () => undefined;
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}

async function interact(
  provider: Provider,
  { sub }: ProviderPerson,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await provider.interactionFinished(request, response, { login: { accountId: sub } });
}

/** A browser that keeps the provider's cookies for this visit alone. */
async function followRedirects(location: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = location;
  for (let step = 0; step < 10; step++) {
    if (!next.startsWith(issuer)) return next;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, { redirect: 'manual', headers: { cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [pair = ''] = text.split(';');
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const target = response.headers.get('location');
    if (target === null)
      throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    next = new URL(target, next).href;
  }
  throw new Error('the provider redirects for ever');
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
