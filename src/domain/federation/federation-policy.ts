// Federation policies (docs/contract.md#workload-identity): which tokens of which issuer may be exchanged for a short-lived
// access token of a key.
import { AppError } from '../errors.js';

export const MAX_POLICIES_PER_ACCOUNT = 50;
/** Of one key, at any time. */
export const MAX_LIVE_TOKENS_PER_KEY = 1_000;
/** Seconds that an access token may live at most, as a policy sets it. */
export const TOKEN_SECONDS = { least: 60, most: 900 } as const;
export const MAX_CLAIMS = 20;

export type ClaimValue = string | number | boolean;
export type RequiredClaims = Readonly<Record<string, ClaimValue>>;

/** A public key in the form of RFC 7517. */
export type PublicKey = Readonly<Record<string, string>>;

export interface PublicKeySet {
  readonly keys: readonly PublicKey[];
}

export interface PolicySettings {
  readonly name: string;
  /** Compared exactly, like the audience. */
  readonly issuer: string;
  readonly audience: string;
  /** See subjectProblem(). */
  readonly subject: string;
  /** Claims beside the subject that a token must have, each with this value. */
  readonly claims: RequiredClaims;
  readonly maxTtlSeconds: number;
  /** The keys of the issuer; null: `jwksUrl` has them. */
  readonly jwks: PublicKeySet | null;
  readonly jwksUrl: string | null;
  readonly enabled: boolean;
}

/** The key whose calls the access tokens make. */
export interface PolicyKey {
  readonly workspaceId: string;
  readonly id: string;
  /** Of its record. */
  readonly hash: string;
}

export interface FederationPolicy extends PolicySettings {
  readonly accountId: string;
  readonly id: string;
  readonly key: PolicyKey;
  readonly createdAt: Date;
  /** Null until the first change. */
  readonly updatedAt: Date | null;
}

export function noSuchPolicy(): AppError {
  return new AppError('not_found', { detail: 'no such federation policy' });
}

// Before a final `*`: a shorter beginning names too much.
const LEAST_BEGINNING = 8;
const RULE = `must have no *, or one at its end, after : or / and at least ${LEAST_BEGINNING} characters`;

/**
 * Why a policy must not have the subject; null: it may. `repo:org/app:*` covers whatever follows, and never
 * `repo:org/app-2`.
 */
export function subjectProblem(subject: string): string | null {
  const beginning = beginningOf(subject);
  if (beginning === null) return subject.includes('*') ? RULE : null;
  const isBounded = /[:/]$/.test(beginning) && beginning.length >= LEAST_BEGINNING;
  return isBounded && !beginning.includes('*') ? null : RULE;
}

export function matchesSubject(subject: string, presented: string): boolean {
  const beginning = beginningOf(subject);
  if (beginning === null || subjectProblem(subject) !== null) return subject === presented;
  return presented.length > beginning.length && presented.startsWith(beginning);
}

/** Null: the subject is exact. */
function beginningOf(subject: string): string | null {
  return subject.endsWith('*') ? subject.slice(0, -1) : null;
}
