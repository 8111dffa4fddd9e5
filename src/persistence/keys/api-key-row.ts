// Rows of API keys.
import type { ApiKey } from '../../domain/keys/api-key.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import type { ApiKeyModel } from '../generated/models.js';
import { toUsd } from '../spend/spend-row.js';
import type { Amount } from '../spend/spend-row.js';

export type ApiKeyRow = Omit<ApiKeyModel, 'limit' | 'deletedAt'> & { readonly limit: Amount | null };

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    accountId: row.accountId,
    workspaceId: row.workspaceId,
    hash: row.hash,
    kind: row.kind === 'management' ? 'management' : 'inference',
    name: row.name,
    label: row.label,
    disabled: row.disabled,
    limit: row.limit === null ? null : toUsd(row.limit),
    limitReset: LIMIT_RESETS.find((reset) => reset === row.limitReset) ?? null,
    includeByokInLimit: row.includeByokInLimit,
    embeddingCache: row.embeddingCache,
    creatorUserId: row.creatorUserId,
    externalUser: row.externalUser,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
  };
}
