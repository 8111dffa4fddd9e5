// The checks of a token's claims, once its signature is verified.
import { matchesSubject } from './federation-policy.js';
import type { PolicySettings } from './federation-policy.js';

/** Seconds that the clocks of an issuer and of this service may differ. */
const TOLERANCE = 60;
const LONGEST_LIFE = 24 * 3_600;

export type TokenClaims = Readonly<Record<string, unknown>>;

/** A token that a policy takes, or why it does not: for the log, without a value of the token. */
export type ClaimsResult = { readonly expiresAt: Date } | { readonly problem: string };

export function checkClaims(policy: PolicySettings, claims: TokenClaims, now: Date): ClaimsResult {
  const seconds = now.getTime() / 1_000;
  if (claims['iss'] !== policy.issuer) return { problem: 'another issuer' };
  if (!audiencesOf(claims['aud']).includes(policy.audience)) return { problem: 'another audience' };
  const { exp, nbf, iat } = claims;
  if (!isTime(exp) || exp + TOLERANCE <= seconds) return { problem: 'expired' };
  if (nbf !== undefined && (!isTime(nbf) || nbf - TOLERANCE > seconds)) return { problem: 'not valid yet' };
  if (!isTime(iat) || iat - TOLERANCE > seconds) return { problem: 'issued in the future' };
  if (exp - iat > LONGEST_LIFE) return { problem: 'valid for more than 24 hours' };
  const { sub } = claims;
  if (typeof sub !== 'string' || !matchesSubject(policy.subject, sub)) return { problem: 'another subject' };
  const isOther = Object.entries(policy.claims).some(
    ([name, value]) => !Object.hasOwn(claims, name) || claims[name] !== value,
  );
  return isOther ? { problem: 'another claim' } : { expiresAt: new Date(exp * 1_000) };
}

function audiencesOf(audience: unknown): readonly unknown[] {
  return Array.isArray(audience) ? audience : [audience];
}

// Beyond it a Date has no value.
const LATEST = 8.64e12;

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LATEST;
}
