// An issuer of answers that no provider makes: each part of an answer may be changed.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { base64url, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import { CLIENT } from './identity-provider.js';

export interface TokenIssuer {
  readonly issuer: string;
  /** Paths of requests, in order. */
  readonly requests: string[];
  /** Bodies of requests for tokens. */
  readonly tokenRequests: URLSearchParams[];
  /** Changes of the answers to come. */
  answer: IssuerAnswer;
  /** The answer of the authorization endpoint to a browser: the address of the callback. */
  authorize(location: string): string;
  /** New keys: tokens are signed by them, and the set of keys has no others. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

export interface IssuerAnswer {
  readonly claims?: JWTPayload;
  /** Claims that the ID token lacks. */
  readonly without?: readonly string[];
  readonly algorithm?: 'none' | 'HS256' | 'foreign-key';
  readonly userInfo?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Instead of tokens. */
  readonly token?: { readonly status: number; readonly body: string };
  /** Parameters of the callback; null: none. */
  readonly callback?: Readonly<Record<string, string | null>>;
}

interface KeySet {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** `now` is the time of its tokens. */
export async function startTokenIssuer(now: () => Date = () => new Date()): Promise<TokenIssuer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = new RunningIssuer(issuer, server, now);
  await running.rotate();
  server.on('request', (request, response) => void running.respond(request, response));
  return running;
}

class RunningIssuer implements TokenIssuer {
  readonly requests: string[] = [];
  readonly tokenRequests: URLSearchParams[] = [];
  answer: IssuerAnswer = {};
  private keys: KeySet | null = null;
  private rotations = 0;
  private nonce = '';

  constructor(
    readonly issuer: string,
    private readonly server: Server,
    private readonly now: () => Date,
  ) {}

  authorize(location: string): string {
    const asked = new URL(location).searchParams;
    this.nonce = asked.get('nonce') ?? '';
    const callback = new URL(asked.get('redirect_uri') ?? '');
    const parameters = {
      code: 'a-code',
      state: asked.get('state'),
      iss: this.issuer,
      ...this.answer.callback,
    };
    for (const [name, value] of Object.entries(parameters))
      if (value !== null) callback.searchParams.set(name, value);
    return callback.href;
  }

  async rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const kid = `key-${++this.rotations}`;
    this.keys = {
      kid,
      privateKey,
      publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' },
    };
  }

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.issuer);
    this.requests.push(pathname);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [status, body] = await this.bodyOf(pathname, Buffer.concat(chunks).toString());
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }

  private async bodyOf(path: string, sent: string): Promise<readonly [number, string]> {
    if (path === '/.well-known/openid-configuration') return [200, JSON.stringify(this.metadata())];
    if (path === '/jwks') return [200, JSON.stringify({ keys: [this.keys?.publicJwk] })];
    if (path === '/me')
      return [200, JSON.stringify(this.answer.userInfo ?? { sub: this.answer.claims?.sub ?? 'ann' })];
    if (path !== '/token') return [404, '{}'];
    this.tokenRequests.push(new URLSearchParams(sent));
    const { token } = this.answer;
    if (token !== undefined) return [token.status, token.body];
    const idToken = await this.idToken();
    return [
      200,
      JSON.stringify({ access_token: 'an-access-token', token_type: 'Bearer', id_token: idToken }),
    ];
  }

  private metadata(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/auth`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      userinfo_endpoint: `${this.issuer}/me`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      // Worse than any provider: the service must not believe the first two.
      id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'],
      authorization_response_iss_parameter_supported: true,
      ...this.answer.metadata,
    };
  }

  private async idToken(): Promise<string> {
    const { keys, answer } = this;
    if (keys === null) throw new Error('the issuer has no keys');
    const seconds = Math.floor(this.now().getTime() / 1_000);
    const claims: JWTPayload = {
      iss: this.issuer,
      aud: CLIENT.id,
      sub: 'ann',
      nonce: this.nonce,
      iat: seconds,
      exp: seconds + 300,
      email: 'ann@example.com',
      email_verified: true,
      ...answer.claims,
    };
    for (const name of answer.without ?? []) delete claims[name];
    if (answer.algorithm === 'none') {
      return `${base64url.encode(JSON.stringify({ alg: 'none' }))}.${base64url.encode(JSON.stringify(claims))}.`;
    }
    if (answer.algorithm === 'HS256') {
      const secret = new TextEncoder().encode(JSON.stringify(keys.publicJwk));
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: keys.kid }).sign(secret);
    }
    const foreign = await generateKeyPair('RS256');
    const key = answer.algorithm === 'foreign-key' ? foreign.privateKey : keys.privateKey;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: keys.kid }).sign(key);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}
