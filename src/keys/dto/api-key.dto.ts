// An API key record on the wire. Source: interface "API key record"; contract 3.2.
import { ApiProperty } from '@nestjs/swagger';
import type { ApiKey, ApiKeyWithSpend } from '../../domain/keys/api-key.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { LIMIT_RESETS, remainingOfLimit } from '../../domain/spend/spend.js';

const USD = 'USD';

/** What the record of a key and a key's own view of itself have in common. */
export abstract class KeyUsageDto {
  @ApiProperty({ description: 'The abbreviated key.', example: 'sk-sb-v1-0e6...1c96' })
  label: string;

  @ApiProperty({ type: Number, nullable: true, description: `${USD}; null: no limit.` })
  limit: number | null;

  @ApiProperty({ type: Number, nullable: true, description: `${USD} left in the limit's window.` })
  limit_remaining: number | null;

  @ApiProperty({
    type: String,
    enum: LIMIT_RESETS,
    nullable: true,
    description: 'At 00:00 UTC; weeks begin on Monday.',
  })
  limit_reset: string | null;

  @ApiProperty()
  include_byok_in_limit: boolean;

  @ApiProperty({ description: `${USD}.` })
  usage: number;

  @ApiProperty({ description: `${USD} since 00:00 UTC.` })
  usage_daily: number;

  @ApiProperty({ description: `${USD} since Monday 00:00 UTC.` })
  usage_weekly: number;

  @ApiProperty({ description: `${USD} since the first of the month, 00:00 UTC.` })
  usage_monthly: number;

  @ApiProperty({ description: `${USD} through own provider keys.` })
  byok_usage: number;

  @ApiProperty()
  byok_usage_daily: number;

  @ApiProperty()
  byok_usage_weekly: number;

  @ApiProperty()
  byok_usage_monthly: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at: string | null;

  @ApiProperty({ type: String, nullable: true })
  creator_user_id: string | null;

  @ApiProperty({ format: 'uuid' })
  workspace_id: string;

  @ApiProperty({ description: 'Whether it is a management key.' })
  is_management_key: boolean;
}

export class ApiKeyDto extends KeyUsageDto {
  @ApiProperty({ description: 'SHA-256 of the first key in lower-case hexadecimal; it outlives rotations.' })
  hash: string;

  @ApiProperty()
  name: string;

  @ApiProperty()
  disabled: boolean;

  @ApiProperty({
    description: 'Whether its embeddings calls use the cache when they do not say so themselves.',
  })
  embedding_cache: boolean;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null until the first change.',
  })
  updated_at: string | null;

  @ApiProperty({ type: String, nullable: true })
  external_user: string | null;
}

export class ApiKeyResponseDto {
  @ApiProperty()
  data: ApiKeyDto;
}

export class ApiKeysResponseDto {
  @ApiProperty({ type: [ApiKeyDto], description: 'Newest first, at most 100.' })
  data: ApiKeyDto[];
}

export class NewSecretResponseDto extends ApiKeyResponseDto {
  @ApiProperty({ description: 'The key itself: shown only here, stored nowhere.', example: 'sk-sb-v1-...' })
  key: string;
}

// Object.assign, and not a literal of spreads: that one takes V8 several times as long to make.

export function toApiKeyDto(found: ApiKeyWithSpend): ApiKeyDto {
  return Object.assign(toKeySettings(found.key), toSpentMembers(found));
}

export function toKeyUsageDto(found: ApiKeyWithSpend): KeyUsageDto {
  return Object.assign(toLimitMembers(found.key), toSpentMembers(found));
}

type SpentMember = keyof ApiKeyDto & ('limit_remaining' | `usage${string}` | `byok_usage${string}`);

/** The record without what is spent: what a change of the key itself changes. */
export function toKeySettings(key: ApiKey): Omit<ApiKeyDto, SpentMember> {
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

function toSpentMembers({ key, spend }: ApiKeyWithSpend): Pick<ApiKeyDto, SpentMember> {
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
  };
}
