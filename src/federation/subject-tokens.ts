// Verifies the token that a job presents: the one place that decides whether it is its issuer's.
import { Injectable } from '@nestjs/common';
import { compactVerify, decodeProtectedHeader, errors } from 'jose';
import { Clock } from '../domain/clock.js';
import type { FederationPolicy } from '../domain/federation/federation-policy.js';
import { checkClaims } from '../domain/federation/token-claims.js';
import type { ClaimsResult } from '../domain/federation/token-claims.js';
import { isObject } from '../domain/members.js';
import { IssuerKeys } from './issuer-keys.js';

const MAX_LENGTH = 16 * 1_024;
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

@Injectable()
export class SubjectTokens {
  constructor(
    private readonly issuerKeys: IssuerKeys,
    private readonly clock: Clock,
  ) {}

  /** Throws `unavailable` when the keys of the issuer cannot be read. */
  async verify(policy: FederationPolicy, token: string): Promise<ClaimsResult> {
    if (token.length > MAX_LENGTH || !FORM.test(token)) return { problem: 'no token of 16 KiB at most' };
    const header = headerOf(token);
    if (!header) return { problem: 'another algorithm, or no kid' };
    const findKey = await this.issuerKeys.find(policy, header.kid);
    try {
      const { payload } = await compactVerify(token, findKey, { algorithms: ALGORITHMS });
      const claims: unknown = JSON.parse(Buffer.from(payload).toString('utf8'));
      if (!isObject(claims)) return { problem: 'no claims' };
      return checkClaims(policy, claims, this.clock.now());
    } catch (error) {
      return { problem: error instanceof errors.JOSEError ? error.code : 'unreadable' };
    }
  }
}

/** Null: no token of an algorithm that this service takes. */
function headerOf(token: string): { readonly kid: string } | null {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    return ALGORITHMS.includes(alg ?? '') && typeof kid === 'string' ? { kid } : null;
  } catch {
    return null;
  }
}
