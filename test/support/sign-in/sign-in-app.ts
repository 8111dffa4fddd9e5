// The service with identity providers, and browsers that sign in by them.
import type { Response } from 'supertest';
import { AppConfig } from '../../../src/config/app-config.js';
import { createTestApp } from '../app/app.js';
import type { TestApp, TestAppOptions } from '../app/app.js';
import { TestClock } from '../app/clock.js';
import { FROM_PAGE, setCookies, whoAmI } from '../app/console.js';
import { ask } from '../requests/admin.js';
import { CLIENT } from './identity-provider.js';
import type { IdentityProvider, ProviderPerson } from './identity-provider.js';
import type { IssuerAnswer, TokenIssuer } from './token-issuer.js';

export const PUBLIC_URL = 'https://gateway.example.com';
export const CALLBACK = `${PUBLIC_URL}/console/sign-in/oidc/callback`;

/** Tokens have the time of this machine. */
export function currentClock(): TestClock {
  return new TestClock(new Date().toISOString());
}

export async function createSignInApp(
  issuer: string,
  { environment, ...options }: TestAppOptions = {},
): Promise<TestApp> {
  const app = await createTestApp({
    clock: currentClock(),
    ...options,
    environment: {
      PUBLIC_URL,
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      RATE_LIMIT_FAILED_AUTHENTICATION_PER_MINUTE: '0',
      ...environment,
    },
  });
  pinAccount(app);
  return app;
}

/** Replicas of tests bring an account of their own: without a name there would be none to sign in to. */
function pinAccount(app: TestApp): void {
  for (const provider of app.application.get(AppConfig).signIn?.providers ?? [])
    Object.assign(provider, { accountId: app.accountId });
}

/** A sign-in that a browser has begun. */
export interface Begun {
  readonly location: string;
  /** The `Cookie` header. */
  readonly cookie: string;
}

export async function clickSignIn(
  app: TestApp,
  {
    id = 'oidc',
    returnTo = '/',
    headers = FROM_PAGE,
  }: { id?: string; returnTo?: string; headers?: object } = {},
): Promise<Response> {
  return app.http
    .get(`/console/sign-in/${id}?return_to=${encodeURIComponent(returnTo)}`)
    .set({ ...headers })
    .redirects(0);
}

export async function begin(app: TestApp, options: { id?: string; returnTo?: string } = {}): Promise<Begun> {
  const response = await clickSignIn(app, options);
  if (response.status !== 303) throw new Error(`sign-in: ${response.status} ${response.text}`);
  return {
    location: String(response.headers['location']),
    cookie: setCookies(response)[0]?.split(';')[0] ?? '',
  };
}

/** The browser follows the redirect of the issuer: a navigation from another site. */
export async function followCallback(app: TestApp, callback: string, cookie?: string): Promise<Response> {
  const { pathname, search } = new URL(callback);
  return app.http
    .get(pathname + search)
    .set({ 'sec-fetch-site': 'cross-site', accept: 'text/html', ...(cookie !== undefined && { cookie }) })
    .redirects(0);
}

/** The `Cookie` header of the session that the callback opened. */
export function sessionOf(response: Response): string {
  const cookie = setCookies(response).find((text) => text.includes('signalbox_session_'));
  if (response.status !== 303 || cookie === undefined)
    throw new Error(`sign-in: ${response.status} ${response.text}`);
  return cookie.split(';')[0] ?? '';
}

/** Signs the person in; returns the callback's response. */
export async function visitAs(
  app: TestApp,
  provider: IdentityProvider,
  person: ProviderPerson,
): Promise<Response> {
  provider.person = person;
  const { location, cookie } = await begin(app);
  return followCallback(app, await provider.visit(location), cookie);
}

export async function answerWith(
  app: TestApp,
  issuer: TokenIssuer,
  answer: IssuerAnswer = {},
): Promise<Response> {
  issuer.answer = answer;
  const { location, cookie } = await begin(app);
  return followCallback(app, issuer.authorize(location), cookie);
}

export interface ShownSession {
  readonly kind: string;
  readonly person: { readonly id: string; readonly email: string | null };
  readonly account_role: string | null;
  readonly workspaces: readonly { readonly workspace_id: string; readonly role: string }[];
  readonly rights: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly expires_at: string;
  readonly renew_at: string;
}

export async function sessionShown(app: TestApp, cookie: string): Promise<ShownSession> {
  const response = await whoAmI(app, cookie);
  if (response.status !== 200) throw new Error(`session: ${response.status} ${response.text}`);
  return (response.body as { data: ShownSession }).data;
}

export async function mapGroup(
  app: TestApp,
  mapping: {
    readonly issuer: string;
    readonly group: string;
    readonly role: string;
    readonly workspace_id?: string;
  },
): Promise<string> {
  const response = await ask(app, 'post', '/group-mappings', { body: mapping });
  if (response.status !== 201) throw new Error(`mapping: ${response.status} ${response.text}`);
  return (response.body as { data: { id: string } }).data.id;
}
