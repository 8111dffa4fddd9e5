// A service account signs a statement about itself, and Google answers with a token for an hour (RFC 7523).
import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { AccessToken, TokenExchange } from '../token-exchange.js';
import { UnusableKey } from '../token-exchange.js';
import type { UpstreamRequest, UpstreamResponse } from '../upstream.js';
import { parseErrorBody } from '../wire.js';
import { GOOGLE_TOKEN_ADDRESS, readServiceAccount, signingKey } from './service-account.js';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
// Seconds.
const LIFETIME = 3_600;
const TOKEN = /^[\x21-\x7e]{1,8192}$/;

/** Off the main thread. */
const signAsync = promisify(sign);

export const GOOGLE_TOKENS: TokenExchange = { buildRequest, readToken };

async function buildRequest(
  apiKey: string,
  operatorKey: string | undefined,
  now: Date,
): Promise<UpstreamRequest> {
  const account = readServiceAccount(apiKey);
  const address = addressFor(apiKey, operatorKey);
  if (![address, GOOGLE_TOKEN_ADDRESS].includes(account.tokenAddress))
    throw new UnusableKey(
      `the key is none of a service account at Google: token_uri must be ${GOOGLE_TOKEN_ADDRESS}`,
    );
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const header = {
    alg: 'RS256',
    typ: 'JWT',
    ...(account.privateKeyId !== null && { kid: account.privateKeyId }),
  };
  const claims = { iss: account.email, scope: SCOPE, aud: address, iat: issuedAt, exp: issuedAt + LIFETIME };
  const signed = `${base64url(header)}.${base64url(claims)}`;
  const signature = await signAsync('RSA-SHA256', Buffer.from(signed), signingKey(account));
  const assertion = `${signed}.${signature.toString('base64url')}`;
  return {
    method: 'POST',
    url: address,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
  };
}

/** Where the operator's own key is exchanged; without one, at Google's. */
function addressFor(apiKey: string, operatorKey: string | undefined): string {
  if (operatorKey === undefined) return GOOGLE_TOKEN_ADDRESS;
  try {
    return readServiceAccount(operatorKey).tokenAddress;
  } catch (error) {
    if (apiKey === operatorKey || !(error instanceof UnusableKey)) throw error;
    return GOOGLE_TOKEN_ADDRESS;
  }
}

function readToken(response: UpstreamResponse): AccessToken | null {
  const { access_token: token, expires_in: lifetime } = parseErrorBody(response);
  if (typeof token !== 'string' || !TOKEN.test(token)) return null;
  return { token, lifetime: typeof lifetime === 'number' && lifetime > 0 ? lifetime : 0 };
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
