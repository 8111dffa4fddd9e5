// An API key record on the wire. Contract: docs/contract.md#api-keys.
import type { ApiKey, ApiKeyState } from '../../domain/keys/api-key.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { limitWindowName } from '../../domain/spend/spend-limit.js';
import type { EffectiveLimit } from '../../domain/spend/spend-limit.js';
import { LIMIT_RESETS, remainingOfLimit } from '../../domain/spend/spend.js';
import { ObjectField } from '../../http/fields/compound-fields.js';
import {
  DayField,
  EnumField,
  FlagField,
  TextField,
  TimeField,
  UsdField,
  UuidField,
} from '../../http/fields/scalar-fields.js';
import { dataOf } from '../../http/openapi/envelopes.js';
import { KeyRefusalsDto, toKeyRefusalsDto } from './key-refusals.dto.js';

/** The limit that stops a key first. */
export class EffectiveLimitDto {
  @EnumField(['key', 'guardrail', 'workspace', 'account'], {
    description:
      '`guardrail`: that of the key or of the member who created it. `workspace`: a budget. `account`: its credits.',
  })
  limit_source: string;
  @EnumField(['daily', 'weekly', 'monthly', 'lifetime']) limit_window: string;
  @UsdField() limit_usd: number;
  @UsdField() spend_usd: number;
  @UsdField({ description: '0: calls are refused.' }) remaining_usd: number;
  @TimeField({ nullable: true }) resets_at: string | null;
}

export function toEffectiveLimitDto({
  source,
  window,
  limit,
  spent,
  resetsAt,
}: EffectiveLimit): EffectiveLimitDto {
  return {
    limit_source: source,
    limit_window: limitWindowName({ window }),
    limit_usd: usdToNumber(limit),
    spend_usd: usdToNumber(spent),
    remaining_usd: spent < limit ? usdToNumber(limit - spent) : 0,
    resets_at: resetsAt?.toISOString() ?? null,
  };
}

/** The members that the record of a key and GET /key have in common. */
export abstract class KeyUsageDto {
  @TextField({ description: 'The abbreviated key.', example: 'sk-sb-v1-0e6...1c96' }) label: string;
  @UsdField({ nullable: true, description: 'USD; null: no limit.' }) limit: number | null;
  @UsdField({ nullable: true, description: "USD left in the limit's window." }) limit_remaining:
    number | null;
  @EnumField(LIMIT_RESETS, {
    nullable: true,
    description: 'The limit resets at 00:00 UTC; weeks begin on Monday.',
  })
  limit_reset: string | null;
  @FlagField({ description: 'Whether spend through own provider keys counts toward the limit.' })
  include_byok_in_limit: boolean;
  @UsdField({ description: 'USD.' }) usage: number;
  @UsdField({ description: 'USD since 00:00 UTC.' }) usage_daily: number;
  @UsdField({ description: 'USD since Monday 00:00 UTC.' }) usage_weekly: number;
  @UsdField({ description: 'USD since the first of the month, 00:00 UTC.' }) usage_monthly: number;
  @UsdField({ description: 'USD through own provider keys.' }) byok_usage: number;
  @UsdField() byok_usage_daily: number;
  @UsdField() byok_usage_weekly: number;
  @UsdField() byok_usage_monthly: number;
  @TimeField({ nullable: true, description: 'Null: the key does not expire.' }) expires_at: string | null;
  @TextField({ nullable: true }) creator_user_id: string | null;
  @UuidField() workspace_id: string;
  @FlagField({ description: 'Whether it is a management key.' }) is_management_key: boolean;
  @ObjectField(EffectiveLimitDto, {
    nullable: true,
    description: 'The limit that stops the key first: its own, a budget or the credits. Null: there is none.',
  })
  effective_limit: EffectiveLimitDto | null;
  @DayField({
    nullable: true,
    description:
      'UTC day of the last call. Calls without a charge appear once they are summed up, within minutes.',
  })
  last_used_on: string | null;
  @TimeField({
    nullable: true,
    description: 'The last call that is summed up, minutes after it. Null: none in the last 100 days.',
  })
  last_used_at: string | null;
  @ObjectField(KeyRefusalsDto, {
    nullable: true,
    description: 'Calls that were refused in the last day, seconds after they were. Null: none.',
  })
  refusals: KeyRefusalsDto | null;
}

export class ApiKeyDto extends KeyUsageDto {
  @TextField({ description: 'SHA-256 of the first secret in lower-case hexadecimal; rotations keep it.' })
  hash: string;
  @TextField() name: string;
  @FlagField() disabled: boolean;
  @FlagField({ description: 'Whether embeddings requests without a cache header use the cache.' })
  embedding_cache: boolean;
  @TimeField() created_at: string;
  @TimeField({ nullable: true, description: 'Null until the first change.' }) updated_at: string | null;
  @TextField({ nullable: true }) external_user: string | null;
}

export class NewSecretResponseDto extends dataOf(ApiKeyDto) {
  @TextField({
    description: 'The key. Only this response contains it, and the service stores only its hash.',
    example: 'sk-sb-v1-...',
  })
  key: string;
}

// Object.assign instead of a literal of spreads, which V8 builds several times more slowly.

export function toApiKeyDto(state: ApiKeyState): ApiKeyDto {
  return Object.assign(toKeySettings(state.key), toStateMembers(state));
}

export function toKeyUsageDto(state: ApiKeyState): KeyUsageDto {
  return Object.assign(toLimitMembers(state.key), toStateMembers(state));
}

type StateMember = keyof ApiKeyDto &
  (
    | 'limit_remaining'
    | `usage${string}`
    | `byok_usage${string}`
    | 'effective_limit'
    | `last_used_${string}`
    | 'refusals'
  );

/** The record without its state: the members that a change of the key can change. */
export function toKeySettings(key: ApiKey): Omit<ApiKeyDto, StateMember> {
  return Object.assign(toLimitMembers(key), {
    hash: key.hash,
    name: key.name,
    disabled: key.disabled,
    embedding_cache: key.embeddingCache,
    created_at: key.createdAt.toISOString(),
    updated_at: key.updatedAt?.toISOString() ?? null,
    external_user: key.externalUser,
  });
}

function toLimitMembers(key: ApiKey) {
  return {
    label: key.label,
    is_management_key: key.kind === 'management',
    limit: key.limit === null ? null : usdToNumber(key.limit),
    limit_reset: key.limitReset,
    include_byok_in_limit: key.includeByokInLimit,
    expires_at: key.expiresAt?.toISOString() ?? null,
    creator_user_id: key.creatorUserId,
    workspace_id: key.workspaceId,
  };
}

function toStateMembers({
  key,
  spend,
  effectiveLimit,
  lastUsedOn,
  lastUsedAt,
  refusals,
}: ApiKeyState): Pick<ApiKeyDto, StateMember> {
  const { usage, byok } = spend;
  const remaining = remainingOfLimit(spend, key);
  return {
    limit_remaining: remaining === null ? null : usdToNumber(remaining),
    usage: usdToNumber(usage.total),
    usage_daily: usdToNumber(usage.daily),
    usage_weekly: usdToNumber(usage.weekly),
    usage_monthly: usdToNumber(usage.monthly),
    byok_usage: usdToNumber(byok.total),
    byok_usage_daily: usdToNumber(byok.daily),
    byok_usage_weekly: usdToNumber(byok.weekly),
    byok_usage_monthly: usdToNumber(byok.monthly),
    effective_limit: effectiveLimit && toEffectiveLimitDto(effectiveLimit),
    last_used_on: lastUsedOn,
    last_used_at: lastUsedAt?.toISOString() ?? null,
    refusals: refusals && toKeyRefusalsDto(refusals),
  };
}
