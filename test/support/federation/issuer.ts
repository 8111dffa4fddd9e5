// An issuer of workload tokens: signs them, and publishes its keys on loopback.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { JWK } from 'jose';
import { listenLocally } from '../upstreams/local-server.js';

type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

export interface SigningKey {
  readonly publicKey: JWK & { readonly kid: string };
  /** The claims are the test's, right or wrong; undefined ones are absent. */
  sign(
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
}

export async function createSigningKey(kid: string, alg: Algorithm = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return {
    publicKey: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT', ...header }).sign(privateKey),
  };
}

export interface RunningIssuer {
  readonly jwksUrl: string;
  /** Requests for its keys so far. */
  readonly fetches: number;
  /** Published from now on. */
  publish(...keys: readonly SigningKey[]): void;
  /** Sets the answer to the next requests; null: the published keys. */
  answerWith(handler: ((response: ServerResponse) => void) | null): void;
  close(): Promise<void>;
}

export async function startIssuer(...initial: readonly SigningKey[]): Promise<RunningIssuer> {
  let keys = initial;
  let fetches = 0;
  let answer: ((response: ServerResponse) => void) | null = null;
  const server = createServer((_request, response) => {
    fetches += 1;
    if (answer) answer(response);
    else
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ keys: keys.map(({ publicKey }) => publicKey) }));
  });
  const { origin, close } = await listenLocally(server);
  return {
    jwksUrl: `${origin}/jwks`,
    get fetches() {
      return fetches;
    },
    publish: (...published) => {
      keys = published;
    },
    answerWith: (handler) => {
      answer = handler;
    },
    close,
  };
}
