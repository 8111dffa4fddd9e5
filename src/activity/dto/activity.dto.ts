// An account's activity on the wire, and the query for it. Source: contract section 6.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsUUID, Matches } from 'class-validator';
import type { ActivityRow } from '../../domain/generations/activity.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { embeddingProviderName } from '../../providers/index.js';
import { IfGiven } from '../../http/fields/optional-members.js';
import { IsStorableText } from '../../http/fields/storable-text.js';

const MAX_USER_ID_LENGTH = 256;

export class ActivityQueryDto {
  @ApiPropertyOptional({
    format: 'date',
    example: '2026-11-20',
    description: 'One of the last 30 completed days.',
  })
  @IfGiven()
  @Matches(/^\d{4}-\d\d-\d\d$/, { message: 'must be a day, as YYYY-MM-DD' })
  date?: string;

  @ApiPropertyOptional({ description: 'SHA-256 of a key of the account in lower-case hexadecimal.' })
  @IfGiven()
  @Matches(/^[0-9a-f]{64}$/, { message: 'must be 64 lower-case hexadecimal digits' })
  api_key_hash?: string;

  @ApiPropertyOptional({ description: 'Only calls of keys with this creator_user_id.' })
  @IfGiven()
  @IsStorableText(MAX_USER_ID_LENGTH)
  user_id?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;

  @ApiPropertyOptional({ enum: ['workspace'], description: 'Tells workspaces apart.' })
  @IfGiven()
  @IsIn(['workspace'], { message: 'must be workspace' })
  group_by?: string;
}

class ActivityItemDto {
  @ApiProperty({ format: 'date', description: 'A UTC day.' })
  date: string;

  @ApiProperty({ example: 'openai/text-embedding-3-small' })
  model: string;

  @ApiProperty({ description: 'Equals model.' })
  model_permaslug: string;

  @ApiProperty({
    example: 'openai/text-embedding-3-small',
    description: "The endpoint's tag and the provider's own name of the model; empty when none was reached.",
  })
  endpoint_id: string;

  @ApiProperty({ example: 'OpenAI', description: 'Empty when none was reached.' })
  provider_name: string;

  @ApiProperty({ type: 'integer', description: 'Failed ones included.' })
  requests: number;

  @ApiProperty({ type: 'integer' })
  prompt_tokens: number;

  @ApiProperty({ type: 'integer', description: 'Always 0.' })
  completion_tokens: number;

  @ApiProperty({ type: 'integer', description: 'Always 0.' })
  reasoning_tokens: number;

  @ApiProperty({ description: 'USD.' })
  usage: number;

  @ApiProperty({ description: 'USD that providers charged the owners of own keys.' })
  byok_usage_inference: number;

  @ApiPropertyOptional({ format: 'uuid', description: 'Only with group_by.' })
  workspace_id?: string;
}

export class ActivityResponseDto {
  @ApiProperty({ type: [ActivityItemDto], description: 'The newest day first.' })
  data: ActivityItemDto[];
}

export function toActivityItemDto(row: ActivityRow): ActivityItemDto {
  return {
    date: row.date,
    model: row.model,
    model_permaslug: row.model,
    endpoint_id: row.endpoint ?? '',
    provider_name: row.provider === null ? '' : embeddingProviderName(row.provider),
    requests: row.requests,
    prompt_tokens: row.promptTokens,
    completion_tokens: 0,
    reasoning_tokens: 0,
    usage: usdToNumber(row.usage),
    byok_usage_inference: usdToNumber(row.byokUsage),
    ...(row.workspaceId === null ? {} : { workspace_id: row.workspaceId }),
  };
}
