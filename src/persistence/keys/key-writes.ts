// The writes of keys and their secrets that several repositories make, each in the caller's transaction.
import { hashKeySecret, keyLabel } from '../../domain/keys/api-key.js';
import type { ApiKeyKind } from '../../domain/keys/api-key.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { formatUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendLimit } from '../../domain/spend/spend.js';
import type { Transaction } from '../database/database.js';
import type { ApiKeyModel as ApiKeyRow } from '../generated/models.js';

export interface NewApiKey extends SpendLimit {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
  /** Only its hash and its label are stored. */
  readonly secret: string;
  readonly expiresAt: Date | null;
  readonly creatorUserId: string | null;
  /** Absent: false. */
  readonly endsWithCreator?: boolean;
  /** Absent: false. */
  readonly disabled?: boolean;
  /** Absent: false. */
  readonly embeddingCache?: boolean;
  /** Absent: null. */
  readonly externalUser?: string | null;
  /** A secret that a partner chose, and that also presents the key. Only its hash is stored. */
  readonly partnerSecret?: string | null;
}

/** A new secret, and how long the replaced ones remain valid. */
export interface SecretRotation {
  readonly secret: string;
  /** Null: they expire at once. */
  readonly oldSecretsUntil: Date | null;
  /** From now on the key ends with its creator. Absent: as before. */
  readonly endsWithCreator?: true;
}

export async function insertKey(transaction: Transaction, key: NewApiKey, now: Date): Promise<ApiKeyRow> {
  const hash = hashKeySecret(key.secret);
  const secretHashes = [hash, ...(key.partnerSecret ? [hashKeySecret(key.partnerSecret)] : [])];
  return transaction.apiKey.create({
    data: {
      id: uuidV7(now),
      accountId: key.accountId,
      workspaceId: key.workspaceId,
      hash,
      kind: key.kind,
      name: key.name,
      label: keyLabel(key.secret),
      limit: toAmount(key.limit),
      limitReset: key.limitReset,
      includeByokInLimit: key.includeByokInLimit,
      disabled: key.disabled ?? false,
      embeddingCache: key.embeddingCache ?? false,
      creatorUserId: key.creatorUserId,
      endsWithCreator: key.endsWithCreator ?? false,
      externalUser: key.externalUser ?? null,
      expiresAt: key.expiresAt,
      createdAt: now,
      secrets: { create: secretHashes.map((secretHash) => ({ secretHash, createdAt: now })) },
    },
  });
}

/** A key has at most two secrets: those replaced before expire now. Its row is locked. */
export async function replaceSecrets(
  transaction: Transaction,
  { workspaceId, id }: Pick<ApiKeyRow, 'workspaceId' | 'id'>,
  { secret, oldSecretsUntil }: SecretRotation,
  now: Date,
): Promise<void> {
  // Access tokens are no secrets of the key: their own time ends them.
  const secrets = { workspaceId, apiKeyId: id, federationPolicyId: null };
  await transaction.apiKeySecret.deleteMany({
    where: oldSecretsUntil ? { ...secrets, expiresAt: { not: null } } : secrets,
  });
  await transaction.apiKeySecret.updateMany({ where: secrets, data: { expiresAt: oldSecretsUntil } });
  await transaction.apiKeySecret.create({
    data: { workspaceId, apiKeyId: id, secretHash: hashKeySecret(secret), createdAt: now },
  });
}

/** An update to the same value locks the row: changes of one key are serialised. Undefined: there is no such key. */
export async function lockKey(
  transaction: Transaction,
  accountId: string,
  hash: string,
): Promise<ApiKeyRow | undefined> {
  const rows = await transaction.apiKey.updateManyAndReturn({
    where: { accountId, hash, deletedAt: null },
    data: { accountId },
  });
  return rows[0];
}

export function toAmount(limit: PicoUsd | null): string | null {
  return limit === null ? null : formatUsd(limit);
}
