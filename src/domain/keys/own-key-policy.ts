// The bounds of the keys that developers make for themselves (docs/contract.md#own-keys).
import { AppError } from '../errors.js';
import { formatUsd } from '../spend/money.js';
import type { PicoUsd } from '../spend/money.js';
import type { LimitReset, SpendLimit } from '../spend/spend.js';

const DAY = 86_400_000;

export interface OwnKeyPolicy {
  /** False: developers make no keys. */
  readonly enabled: boolean;
  /** Of one person in the workspace, without deleted and expired ones. */
  readonly maxKeys: number;
  /** Of keys that name no limit; null: the highest limit. */
  readonly defaultLimit: PicoUsd | null;
  /** Null: keys may be without a limit. */
  readonly maxLimit: PicoUsd | null;
  readonly limitReset: LimitReset | null;
  /** Until a key expires; null: keys may be without an expiry. */
  readonly maxDays: number | null;
  readonly includeByokInLimit: boolean;
}

export interface StoredOwnKeyPolicy extends OwnKeyPolicy {
  readonly workspaceId: string;
  /** Null: it was never set. */
  readonly updatedAt: Date | null;
}

/** Of a workspace without one. */
export const NO_OWN_KEYS: OwnKeyPolicy = {
  enabled: false,
  maxKeys: 5,
  defaultLimit: null,
  maxLimit: null,
  limitReset: null,
  maxDays: null,
  includeByokInLimit: false,
};

/** The members of a key that a policy bounds. */
export interface KeyTerms extends SpendLimit {
  readonly expiresAt: Date | null;
}

/** Undefined members were not named. */
export type WantedTerms = { readonly [Member in keyof KeyTerms]?: KeyTerms[Member] | undefined };

/** Throws `own_key_refused`, which names the bound. */
export function boundedTerms(policy: OwnKeyPolicy, wanted: WantedTerms, now: Date): KeyTerms {
  requireOwnKeys(policy);
  const { maxLimit, limitReset, maxDays, includeByokInLimit } = policy;
  const limit = wanted.limit === undefined ? (policy.defaultLimit ?? maxLimit) : wanted.limit;
  if (maxLimit !== null && (limit === null || limit > maxLimit))
    refuse(`limit: must be at most ${formatUsd(maxLimit)}`);
  if (wanted.limitReset !== undefined && wanted.limitReset !== limitReset)
    refuse(`limit_reset: must be ${limitReset ?? 'null'}`);
  if (wanted.includeByokInLimit !== undefined && wanted.includeByokInLimit !== includeByokInLimit)
    refuse(`include_byok_in_limit: must be ${includeByokInLimit}`);
  const lastEnd = maxDays === null ? null : new Date(now.getTime() + maxDays * DAY);
  const expiresAt = wanted.expiresAt === undefined ? lastEnd : wanted.expiresAt;
  if (lastEnd !== null && (expiresAt === null || expiresAt > lastEnd))
    refuse(`expires_at: must be within ${maxDays} days`);
  return { limit, limitReset, includeByokInLimit, expiresAt };
}

export function requireOwnKeys({ enabled }: OwnKeyPolicy): void {
  if (!enabled) refuse('developers make no keys in this workspace');
}

function refuse(detail: string): never {
  throw new AppError('own_key_refused', { detail });
}
