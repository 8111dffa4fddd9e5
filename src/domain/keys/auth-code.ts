// Codes that a program exchanges for a key (docs/contract.md#sign-in-from-a-command-line): a person consents in the browser, and
// the program proves by PKCE that it is the one that asked.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SpendLimit } from '../spend/spend.js';

/** Milliseconds. */
export const CODE_LIFE = 300_000;
/** Of one account, at any time. */
export const MAX_CODES_PER_ACCOUNT = 100;
/** Characters. */
export const MAX_KEY_LABEL = 200;
/** Days until a key of a code expires, unless its maker says otherwise. */
export const DEFAULT_KEY_DAYS = 90;

/** A SHA-256 in base64url. */
export const CODE_CHALLENGE = /^[\w-]{43}$/;
/** RFC 7636, section 4.1. */
export const CODE_VERIFIER = /^[\w.~-]{43,128}$/;

/** The key that a code stands for. */
export interface LoginTerms extends Pick<SpendLimit, 'limit' | 'limitReset'> {
  readonly workspaceId: string;
  /** The name of the key. Another sign-in with it rotates the same key. */
  readonly label: string;
  /** Null: the key does not expire. */
  readonly expiresAt: Date | null;
}

export interface AuthCode {
  readonly accountId: string;
  /** The hash of the management key, or the id of the person, who consented. */
  readonly maker: string;
  readonly terms: LoginTerms;
  readonly codeChallenge: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** 256 random bits. Only its hash is stored. */
export function createAuthCode(): string {
  return randomBytes(32).toString('base64url');
}

export function hashAuthCode(code: string): string {
  return hash('sha256', code, 'hex');
}

export function isVerified({ codeChallenge }: AuthCode, verifier: string): boolean {
  const presented = Buffer.from(hash('sha256', verifier, 'base64url'));
  const expected = Buffer.from(codeChallenge);
  return presented.length === expected.length && timingSafeEqual(presented, expected);
}
