// Credentials that are exchanged for tokens before a call, as data: sending, and keeping the tokens, is routing's work
// (routing/credentials/access-tokens.ts).
import type { UpstreamRequest, UpstreamResponse } from './upstream.js';

export interface AccessToken {
  readonly token: string;
  /** Seconds. */
  readonly lifetime: number;
}

export interface TokenExchange {
  /**
   * `operatorKey`: it alone may name an address of its own, because no caller's key may choose where requests go. Throws
   * UnusableKey.
   */
  buildRequest(apiKey: string, operatorKey: string | undefined, now: Date): Promise<UpstreamRequest>;
  /** Reads a 2xx; null: it has no token. */
  readToken(response: UpstreamResponse): AccessToken | null;
}

/** The key has not the form that its provider needs. The message has no part of it. */
export class UnusableKey extends Error {}
