import { describe, expect, it } from '@jest/globals';
import { AppError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import { refusalReasonOf } from './refusal.js';

const CALLER = { kind: 'inference' } as const;
const MANAGER = { kind: 'management' } as const;

const shortfallOf = (kind: 'key' | 'workspace' | 'account') => ({
  owner: { kind, id: kind, workspaceId: kind },
  tightest: null,
  needed: 1n,
  unspent: 0n,
  resetsAt: null,
  affordableTokens: null,
});

describe('the reason of a refused call', () => {
  it.each(['key', 'workspace', 'account'] as const)('is the limit of the %s that refused it', (kind) => {
    const error = new AppError('insufficient_credits', { shortfall: shortfallOf(kind) });
    // The copy that names the call of a caller.
    expect(refusalReasonOf(error.ofCall({ generationId: null }), CALLER, 'POST')).toBe(`${kind}_limit`);
  });

  it.each<[ErrorCode, string | null]>([
    ['key_limit_exceeded', 'key_limit'],
    ['rate_limit_exceeded', 'rate'],
    ['no_allowed_providers', 'permission'],
    ['guardrail_excluded', 'guardrail'],
    ['guardrail_region', 'guardrail'],
    ['forbidden', 'permission'],
    ['invalid_request', 'validation'],
    ['not_found', 'validation'],
    ['payload_too_large', 'validation'],
    ['overloaded', null],
    ['unavailable', null],
    ['internal', null],
    ['invalid_credential', null],
    ['provider_refused', null],
  ])('is by the code %s %p', (code, reason) => {
    expect(refusalReasonOf(new AppError(code), CALLER, 'POST')).toBe(reason);
  });

  it('is none when the call became a generation, whose record has the failure', () => {
    const error = new AppError('invalid_request', { generationId: 'id' });
    expect(refusalReasonOf(error, CALLER, 'POST')).toBeNull();
  });

  it('is none for a mistake in a request that is no call', () => {
    expect(refusalReasonOf(new AppError('not_found'), CALLER, 'GET')).toBeNull();
    expect(refusalReasonOf(new AppError('invalid_request'), MANAGER, 'POST')).toBeNull();
    expect(refusalReasonOf(new AppError('rate_limit_exceeded'), MANAGER, 'POST')).toBe('rate');
    expect(refusalReasonOf(new AppError('management_key_refused'), MANAGER, 'POST')).toBe('permission');
  });
});
