// Rows of API keys, the look-up of callers, and the statement that reads a key with its spend and the limits above it.
//
// Why plain SQL: clients poll their key, and Prisma takes six times as much processor time for its statements. The look-up
// joins guardrails to keys without a relation.
import type { ApiKey, Caller, LastUse } from '../../domain/keys/api-key.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import { selectLastUse } from '../activity/activity-statements.js';
import type { ApiKeyModel } from '../generated/models.js';
import { selectRefusals } from '../refusals/refusal-statements.js';
import type { KeyRefusalsJson } from '../refusals/refusals.repository.js';
import type { GuardrailLimitsJson, SharedLimitsJson } from '../spend/shared-limits-json.js';
import { SHARED_LIMITS, spendOf } from '../spend/spend-policy-statements.js';
import { GOVERNING, selectGuardrailLimits, toGuardrailRefs } from '../guardrails/guardrail-statements.js';
import type { GoverningRow } from '../guardrails/guardrail-statements.js';
import { opaqueArray } from '../database/rows/record-rows.js';
import { toUsd } from '../spend/spend-row.js';
import type { Amount, SpendJson } from '../spend/spend-row.js';

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
    endsWithCreator: row.endsWithCreator,
    externalUser: row.externalUser,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    expiresAt: row.expiresAt,
  };
}

const KEY_COLUMNS = {
  id: 'id',
  accountId: 'account_id',
  workspaceId: 'workspace_id',
  hash: 'hash',
  kind: 'kind',
  name: 'name',
  label: 'label',
  disabled: 'disabled',
  limit: 'limit_amount',
  limitReset: 'limit_reset',
  includeByokInLimit: 'include_byok_in_limit',
  embeddingCache: 'embedding_cache',
  creatorUserId: 'creator_user_id',
  endsWithCreator: 'ends_with_creator',
  externalUser: 'external_user',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  expiresAt: 'expires_at',
} satisfies Record<keyof ApiKeyRow, string>;

const select = (table: string, columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([member, column]) => `${table}.${column} AS "${member}"`)
    .join(', ');

export interface KeySnapshotRow extends ApiKeyRow, LastUse {
  /** Null: nothing was spent. */
  readonly spend: SpendJson | null;
  readonly sharedLimits: SharedLimitsJson;
  readonly guardrailLimits: GuardrailLimitsJson;
  readonly refusals: KeyRefusalsJson;
}

/** $1 account, $2 hash, $3 the present time. */
export const READ_KEY = `
SELECT ${select('key', KEY_COLUMNS)}, ${spendOf('spend')} AS spend,
${SHARED_LIMITS.value} AS "sharedLimits", ${selectLastUse('key.workspace_id', 'key.id', 'spend.last_day')},
${selectGuardrailLimits('key.workspace_id', 'key.id', 'key.creator_user_id')} AS "guardrailLimits",
${selectRefusals('key.workspace_id', 'key.id', '$3')} AS refusals
FROM api_keys AS key
LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id
JOIN workspaces AS workspace ON workspace.id = key.workspace_id
${SHARED_LIMITS.joins}
WHERE key.account_id = $1 AND key.hash = $2 AND key.deleted_at IS NULL`;

export interface CallerRow extends ApiKeyRow, GoverningRow {
  readonly secretHash: string;
  readonly secretExpiresAt: Date | null;
  readonly federationPolicyId: string | null;
}

export function toCaller(row: CallerRow): Caller {
  const { federationPolicyId, secretExpiresAt } = row;
  const caller = { key: toApiKey(row), secretExpiresAt, guardrails: toGuardrailRefs(row) };
  return federationPolicyId === null ? caller : { ...caller, federationPolicyId };
}

/** $1 the hashes of secrets: at most one row for each. The secrets of a key that ends with its creator end with the person. */
export const FIND_CALLERS = `
SELECT secret.secret_hash AS "secretHash", ${select('key', KEY_COLUMNS)},
  LEAST(secret.expires_at, creator.disabled_at, creator.keys_valid_until) AS "secretExpiresAt",
  secret.federation_policy_id AS "federationPolicyId",
  ${GOVERNING.columns}
FROM api_key_secrets AS secret
JOIN api_keys AS key ON key.workspace_id = secret.workspace_id AND key.id = secret.api_key_id
LEFT JOIN persons AS creator
  ON key.ends_with_creator AND creator.account_id = key.account_id AND creator.id = key.creator_user_id
${GOVERNING.joins}
WHERE secret.secret_hash = ANY (${opaqueArray('$1', 'char(64)')}) AND key.deleted_at IS NULL`;
