// What the bodies of POST and PATCH have in common: how a destination forwards, all of it optional.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsNumber,
  IsObject,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { REGIONS } from '../../domain/destinations/destination.js';
import type { Region } from '../../domain/destinations/destination.js';
import { IfGiven, IfGivenAndNotNull } from '../../http/fields/optional-members.js';
import { IsStorableText } from '../../http/fields/storable-text.js';
import { FilterRulesDto } from './filter-rules.dto.js';

const MAX_NAME_LENGTH = 1_000;
// The contract's bound on a list of key hashes (contract 2.5).
const MAX_KEY_HASHES = 100;
const INPUT_REGIONS: readonly string[] = [...REGIONS, 'eu'];

const Flag = (): PropertyDecorator => IsBoolean({ message: 'must be a boolean' });

export const IsDestinationName = (): PropertyDecorator => IsStorableText(MAX_NAME_LENGTH);

// Decorators apply from the bottom up and the first failing rule is told: the type of a member stands lowest.
export abstract class DestinationOptionsDto {
  @ApiPropertyOptional()
  @IfGiven()
  @Flag()
  enabled?: boolean;

  @ApiPropertyOptional({ description: 'True: inputs and outputs are not forwarded, only metadata.' })
  @IfGiven()
  @Flag()
  privacy_mode?: boolean;

  @ApiPropertyOptional({ description: 'True: cost and billing metadata is included.' })
  @IfGiven()
  @Flag()
  broadcast_generation_cost?: boolean;

  @ApiPropertyOptional({ description: 'True: identity metadata is included.' })
  @IfGiven()
  @Flag()
  broadcast_generation_identity?: boolean;

  @ApiPropertyOptional({ description: 'True: request-context metadata is included.' })
  @IfGiven()
  @Flag()
  broadcast_generation_request_context?: boolean;

  @ApiPropertyOptional({ minimum: 0.0001, maximum: 1, format: 'double' })
  @IfGiven()
  @Min(0.0001, { message: 'must be at least 0.0001' })
  @Max(1, { message: 'must be at most 1' })
  @IsNumber({}, { message: 'must be a number' })
  sampling_rate?: number;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    minItems: 1,
    description: 'Hashes of the keys whose traffic is forwarded. Null: all keys.',
  })
  @IfGivenAndNotNull()
  @Matches(/^[0-9a-f]{64}$/, {
    each: true,
    message: 'must hold key hashes of 64 lower-case hexadecimal digits',
  })
  @ArrayMaxSize(MAX_KEY_HASHES, { message: `must have at most ${MAX_KEY_HASHES} elements` })
  @ArrayMinSize(1, { message: 'must have at least 1 element, or be null for all keys' })
  @IsArray({ message: 'must be an array or null' })
  api_key_hashes?: string[] | null;

  @ApiPropertyOptional({ type: FilterRulesDto, nullable: true })
  @IfGivenAndNotNull()
  @IsObject({ message: 'must be an object or null' })
  @ValidateNested({ message: 'must be an object' })
  @Type(() => FilterRulesDto)
  filter_rules?: FilterRulesDto | null;

  @ApiPropertyOptional({
    type: [String],
    enum: INPUT_REGIONS,
    description: '`eu` is stored as `europe`.',
  })
  @IfGiven()
  @IsIn(REGIONS, { each: true, message: `must hold only ${INPUT_REGIONS.join(', ')}` })
  @ArrayMinSize(1, { message: 'must have at least 1 element' })
  @IsArray({ message: 'must be an array' })
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? withoutAliases(value) : value))
  regions?: Region[];
}

function withoutAliases(regions: readonly unknown[]): unknown[] {
  return [...new Set(regions.map((region) => (region === 'eu' ? 'europe' : region)))];
}
