// API keys: the record, the secret that a caller presents, and the caller.
import { hash, randomBytes } from 'node:crypto';
import type { GuardrailRef } from '../guardrails/guardrail.js';
import type { GuardrailsInForce } from '../guardrails/guardrails-in-force.js';
import { abbreviate } from '../text/masking.js';
import type { CallHits } from '../guardrails/guardrail-hit.js';
import { effectiveLimitOf } from '../spend/spend-limit.js';
import type { EffectiveLimit, SharedLimits, SpentLimit } from '../spend/spend-limit.js';
import type { KeySpend, SpendLimit } from '../spend/spend.js';
import type { KeyRefusals } from './refusal.js';

export type ApiKeyKind = 'management' | 'inference';

export interface ApiKey extends SpendLimit {
  readonly id: string;
  readonly accountId: string;
  readonly workspaceId: string;
  /** SHA-256 hex of the key's first secret: the public identifier. */
  readonly hash: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  readonly label: string;
  readonly disabled: boolean;
  /** The default of its embeddings calls for the embedding cache. */
  readonly embeddingCache: boolean;
  readonly creatorUserId: string | null;
  /** A person has made it for himself: it stops when the person leaves. */
  readonly endsWithCreator: boolean;
  readonly externalUser: string | null;
  readonly createdAt: Date;
  /** Null until the first change. */
  readonly updatedAt: Date | null;
  readonly expiresAt: Date | null;
}

/** Changeable members of a key; omitted members keep their value. */
export type ApiKeyChange = Partial<
  Pick<
    ApiKey,
    'name' | 'disabled' | 'limit' | 'limitReset' | 'includeByokInLimit' | 'embeddingCache' | 'expiresAt'
  >
>;

export interface ApiKeyWithSpend {
  readonly key: ApiKey;
  readonly spend: KeySpend;
}

/** The last call of a key. */
export interface LastUse {
  /** Its UTC day, as far as it is summed up or charged; null: there is none. */
  readonly day: string | null;
  /** As far as it is summed up; null: there is none in the days that sums by key are kept. */
  readonly moment: Date | null;
}

export const NEVER_USED: LastUse = { day: null, moment: null };

/** Everything that the state of a key follows from. */
export interface ApiKeySnapshot extends ApiKeyWithSpend {
  readonly sharedLimits: SharedLimits;
  /** Of its own guardrail, and of the guardrail of the member who created it. */
  readonly guardrailLimits: readonly SpentLimit[];
  readonly lastUse: LastUse;
  /** Null: none in the last day. */
  readonly refusals: KeyRefusals | null;
}

export interface ApiKeyState extends ApiKeyWithSpend {
  /** The limit that stops the key first. */
  readonly effectiveLimit: EffectiveLimit | null;
  /** UTC day. */
  readonly lastUsedOn: string | null;
  readonly lastUsedAt: Date | null;
  /** Null: none in the last day. */
  readonly refusals: KeyRefusals | null;
}

export function stateOf(
  { key, spend, sharedLimits, guardrailLimits, lastUse, refusals }: ApiKeySnapshot,
  now: Date,
): ApiKeyState {
  return {
    key,
    spend,
    effectiveLimit: effectiveLimitOf(key, spend, sharedLimits, now, guardrailLimits),
    lastUsedOn: lastUse.day,
    lastUsedAt: lastUse.moment,
    refusals,
  };
}

/** The key behind a request's credential. */
export interface Caller {
  readonly key: ApiKey;
  /** When the presented secret expires, before the key itself does: an access token, by a rotation, or because its creator leaves. */
  readonly secretExpiresAt: Date | null;
  /** The federation policy that issued the presented secret, an access token. Absent: a secret of the key itself. */
  readonly federationPolicyId?: string;
  /** Those that govern its calls; null: none. */
  readonly guardrails: readonly GuardrailRef[] | null;
}

/** The key of one model call, with the guardrails in force. */
export interface GuardedCaller {
  readonly key: ApiKey;
  /** Null: none. */
  readonly guardrails: GuardrailsInForce | null;
  /** The matches of their content filters in the call. Absent: no guardrail is in force. */
  readonly hits?: CallHits;
}

/** Begins all secrets that this service makes. */
export const SECRET_PREFIX = 'sk-sb-';
/** Begins the secrets of keys. */
export const KEY_PREFIX = `${SECRET_PREFIX}v1-`;
/** Begins access tokens, which federation policies issue. */
const TOKEN_PREFIX = `${SECRET_PREFIX}t1-`;

/** A new secret: the prefix and 256 random bits in hex. Shown once, never stored. */
export function createKeySecret(): string {
  return KEY_PREFIX + randomBytes(32).toString('hex');
}

/** The same for an access token. */
export function createAccessToken(): string {
  return TOKEN_PREFIX + randomBytes(32).toString('hex');
}

/** The form of hashKeySecret(). */
export const KEY_HASH = /^[0-9a-f]{64}$/;

/** SHA-256 in lower-case hex, which is stored and looked up instead of the secret. */
export function hashKeySecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** The abbreviated key in a record (docs/contract.md#masking). */
export function keyLabel(secret: string): string {
  return abbreviate(secret, 12, 4);
}

export function isUsableAt(caller: Caller, now: Date): boolean {
  const { key, secretExpiresAt } = caller;
  return (
    !key.disabled &&
    (key.expiresAt === null || key.expiresAt > now) &&
    (secretExpiresAt === null || secretExpiresAt > now)
  );
}
