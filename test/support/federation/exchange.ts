// Federation policies, tokens of issuers and their exchange, for the specs of both.
import type { Response } from 'supertest';
import type { TestApp } from '../app/app.js';
import { askFor } from '../requests/admin.js';
import type { SigningKey } from './issuer.js';

export const ISSUER = 'https://token.actions.example.com';
export const AUDIENCE = 'https://signalbox.example.com';
export const SUBJECT = 'repo:acme/shop:ref:refs/heads/main';

export interface PolicyRecord {
  readonly id: string;
  readonly [member: string]: unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** A policy that trusts the keys, for the app's inference key. */
export async function createPolicy(
  app: TestApp,
  keys: readonly SigningKey[],
  members: Members = {},
): Promise<PolicyRecord> {
  const body = {
    name: 'Deployments',
    issuer: ISSUER,
    audience: AUDIENCE,
    subject: SUBJECT,
    api_key_hash: app.key.hash,
    ...(keys.length > 0 ? { jwks: { keys: keys.map(({ publicKey }) => publicKey) } } : {}),
    ...members,
  };
  const { data } = await askFor<{ data: PolicyRecord }>(201, app, 'post', '/federation-policies', { body });
  return data;
}

/** Claims that createPolicy() takes, by the clock of the app. */
export function goodClaims(app: TestApp): Record<string, unknown> {
  const now = Math.floor(app.clock.now().getTime() / 1_000);
  return { iss: ISSUER, aud: AUDIENCE, sub: SUBJECT, iat: now, nbf: now, exp: now + 600 };
}

export const formOf = (policyId: string, subjectToken: string): Record<string, string> => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  subject_token: subjectToken,
  federation_policy_id: policyId,
});

export async function exchange(app: TestApp, form: Readonly<Record<string, string>>): Promise<Response> {
  return app.http.post('/api/v1/oauth/token').type('form').send(form);
}

/** The access token for a good token of the key. */
export async function exchanged(app: TestApp, policyId: string, key: SigningKey): Promise<string> {
  const response = await exchange(app, formOf(policyId, await key.sign(goodClaims(app))));
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
  return (response.body as { access_token: string }).access_token;
}
