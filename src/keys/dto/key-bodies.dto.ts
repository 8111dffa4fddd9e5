// The bodies of the key operations. Source: contract 3.1; `embedding_cache` and rotating are extensions.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsUUID,
  Matches,
  Max,
  Min,
  MinLength,
  ValidateNested,
} from 'class-validator';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import type { LimitReset } from '../../domain/spend/spend.js';
import { IsUtcTime } from '../../http/fields/is-utc-time.js';
import { IfGiven, IfGivenAndNotNull } from '../../http/fields/optional-members.js';
import { IsStorableText } from '../../http/fields/storable-text.js';

const MAX_TEXT_LENGTH = 1_000;
// USD. Far above any limit, far below what the database can hold.
const MAX_LIMIT = 1_000_000_000;
const MAX_GRACE_SECONDS = 30 * 86_400;

const Flag = (): PropertyDecorator => IsBoolean({ message: 'must be a boolean' });

const IsText = (): PropertyDecorator =>
  applyDecorators(IsStorableText(MAX_TEXT_LENGTH), MinLength(1, { message: 'must not be empty' }));

// Decorators apply from the bottom up and the first failing rule is told: the type of a member stands lowest.
abstract class KeyOptionsDto {
  @ApiPropertyOptional({
    type: Number,
    nullable: true,
    minimum: 0,
    maximum: MAX_LIMIT,
    description: 'USD; null: no limit.',
    example: 12.5,
  })
  @IfGivenAndNotNull()
  @Min(0, { message: 'must not be negative' })
  @Max(MAX_LIMIT, { message: `must be at most ${MAX_LIMIT}` })
  @IsNumber({}, { message: 'must be a number or null' })
  limit?: number | null;

  @ApiPropertyOptional({
    type: String,
    enum: LIMIT_RESETS,
    nullable: true,
    description: 'When the limit begins anew: at 00:00 UTC, weeks on Monday. Null: never.',
  })
  @IfGivenAndNotNull()
  @IsIn(LIMIT_RESETS, { message: `must be one of ${LIMIT_RESETS.join(', ')}, or null` })
  limit_reset?: LimitReset | null;

  @ApiPropertyOptional({ description: 'Whether spend through own provider keys counts toward the limit.' })
  @IfGiven()
  @Flag()
  include_byok_in_limit?: boolean;

  @ApiPropertyOptional({
    description: 'Whether the embeddings calls of the key use the cache when they do not say so themselves.',
  })
  @IfGiven()
  @Flag()
  embedding_cache?: boolean;
}

class ExternalIdentityDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_TEXT_LENGTH, description: "The partner's name for its user." })
  @IsText()
  user: string;

  @ApiPropertyOptional({
    minLength: 32,
    maxLength: 512,
    description:
      'A secret of the partner by which the key can be presented as well. Only its hash is stored.',
  })
  @IfGiven()
  @Matches(/^[\x21-\x7e]{32,512}$/, { message: 'must have 32 to 512 visible ASCII characters' })
  api_key?: string;
}

export class CreateKeyDto extends KeyOptionsDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_TEXT_LENGTH, example: 'Production' })
  @IsText()
  name: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'In UTC, with seconds. Null: never.',
    example: '2027-01-31T12:00:00Z',
  })
  @IfGivenAndNotNull()
  @IsUtcTime()
  expires_at?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, minLength: 1, maxLength: MAX_TEXT_LENGTH })
  @IfGivenAndNotNull()
  @IsText()
  creator_user_id?: string | null;

  @ApiPropertyOptional({ format: 'uuid', description: "Absent: the account's default workspace." })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;

  @ApiPropertyOptional({ description: 'The identity that the key has with a partner.' })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  @Type(() => ExternalIdentityDto)
  external?: ExternalIdentityDto;
}

export class UpdateKeyDto extends KeyOptionsDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_TEXT_LENGTH })
  @IfGiven()
  @IsText()
  name?: string;

  @ApiPropertyOptional({ description: 'True: the key is refused from now on.' })
  @IfGiven()
  @Flag()
  disabled?: boolean;
}

export class RotateKeyDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_GRACE_SECONDS,
    default: 86_400,
    description: 'How long the secret that is replaced goes on working.',
  })
  @IfGiven()
  @Min(0, { message: 'must not be negative' })
  @Max(MAX_GRACE_SECONDS, { message: `must be at most ${MAX_GRACE_SECONDS}` })
  @IsInt({ message: 'must be a whole number' })
  grace_period_seconds: number = 86_400;
}
