// An API key record on the wire. Source: interface "API key record"; contract 3.2.
import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyWithSpend } from '../../domain/api-key.js';
import { usdToNumber } from '../../domain/money.js';
import { LIMIT_RESETS, remainingOfLimit } from '../../domain/spend.js';

const USD = 'USD';

export class ApiKeyDto {
  @ApiProperty({ description: 'SHA-256 of the key in lower-case hexadecimal.' })
  hash: string;

  @ApiProperty()
  name: string;

  @ApiProperty({ description: 'The abbreviated key.', example: 'sk-sb-v1-0e6...1c96' })
  label: string;

  @ApiProperty()
  disabled: boolean;

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

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null until the first change.',
  })
  updated_at: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at: string | null;

  @ApiProperty({ type: String, nullable: true })
  creator_user_id: string | null;

  @ApiProperty({ format: 'uuid' })
  workspace_id: string;

  @ApiProperty({ type: String, nullable: true })
  external_user: string | null;
}

export class ApiKeyResponseDto {
  @ApiProperty()
  data: ApiKeyDto;
}

export function toApiKeyDto({ key, spend }: ApiKeyWithSpend): ApiKeyDto {
  const remaining = remainingOfLimit(spend, key);
  return {
    hash: key.hash,
    name: key.name,
    label: key.label,
    disabled: key.disabled,
    limit: key.limit === null ? null : usdToNumber(key.limit),
    limit_remaining: remaining === null ? null : usdToNumber(remaining),
    limit_reset: key.limitReset,
    include_byok_in_limit: key.includeByokInLimit,
    usage: usdToNumber(spend.usage.total),
    usage_daily: usdToNumber(spend.usage.daily),
    usage_weekly: usdToNumber(spend.usage.weekly),
    usage_monthly: usdToNumber(spend.usage.monthly),
    byok_usage: usdToNumber(spend.byok.total),
    byok_usage_daily: usdToNumber(spend.byok.daily),
    byok_usage_weekly: usdToNumber(spend.byok.weekly),
    byok_usage_monthly: usdToNumber(spend.byok.monthly),
    created_at: key.createdAt.toISOString(),
    updated_at: key.updatedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    creator_user_id: key.creatorUserId,
    workspace_id: key.workspaceId,
    external_user: key.externalUser,
  };
}
