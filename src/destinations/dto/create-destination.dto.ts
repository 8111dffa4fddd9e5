// The body of POST /observability/destinations. Source: interface; contract 2.1; decisions 1, 8, 9 and 10.
import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsNumber,
  IsObject,
  IsString,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { BaseDestinationConfig } from '../../destination-kinds/destination-kind.js';
import { DESTINATION_KINDS, DESTINATION_TYPES, findDestinationKind } from '../../destination-kinds/index.js';
import { REGIONS } from '../../domain/destination.js';
import type { Region } from '../../domain/destination.js';
import { FilterRulesDto } from './filter-rules.dto.js';
import { isStorableText, NOT_STORABLE } from './storable-text.js';

const CONFIG_CLASSES = DESTINATION_KINDS.map((kind) => kind.configClass);
const MAX_NAME_LENGTH = 1_000;
// The contract's bound on a list of key hashes (contract 2.5).
const MAX_KEY_HASHES = 100;
const INPUT_REGIONS: readonly string[] = [...REGIONS, 'eu'];

/** A config of an unknown type: its members cannot be judged, only `type` is complained of. */
class UnknownKindConfig {}

const IfGiven = (): PropertyDecorator => ValidateIf((_object, value: unknown) => value !== undefined);
const IfGivenAndNotNull = (): PropertyDecorator =>
  ValidateIf((_object, value: unknown) => value !== undefined && value !== null);
const Flag = (): PropertyDecorator => IsBoolean({ message: 'must be a boolean' });

// Decorators apply from the bottom up and the first failing rule is told: the type of a member stands lowest.
@ApiExtraModels(...CONFIG_CLASSES)
export class CreateDestinationDto {
  @ApiProperty({
    enum: DESTINATION_TYPES,
    example: 'webhook',
    description: 'The kind, in either of its spellings.',
  })
  @IsIn(DESTINATION_TYPES, { message: `must be one of ${DESTINATION_TYPES.join(', ')}` })
  type: string;

  @ApiProperty({ example: 'Production traces' })
  @ValidateBy({
    name: 'isStorable',
    validator: { validate: isStorableText, defaultMessage: () => NOT_STORABLE },
  })
  @MaxLength(MAX_NAME_LENGTH, { message: `must have at most ${MAX_NAME_LENGTH} characters` })
  @IsString({ message: 'must be a string' })
  name: string;

  // Not oneOf: the configs of some kinds have the same members.
  @ApiProperty({ anyOf: CONFIG_CLASSES.map((configClass) => ({ $ref: getSchemaPath(configClass) })) })
  @ValidateIf((body: CreateDestinationDto) => !(body.config instanceof UnknownKindConfig))
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  @Type((options) => configClassOf(options?.object['type']))
  config: BaseDestinationConfig;

  @ApiPropertyOptional({ default: true })
  @IfGiven()
  @Flag()
  enabled: boolean = true;

  @ApiPropertyOptional({
    default: false,
    description: 'True: inputs and outputs are not forwarded, only metadata.',
  })
  @IfGiven()
  @Flag()
  privacy_mode: boolean = false;

  @ApiPropertyOptional({ default: false, description: 'True: cost and billing metadata is included.' })
  @IfGiven()
  @Flag()
  broadcast_generation_cost: boolean = false;

  @ApiPropertyOptional({ default: false, description: 'True: identity metadata is included.' })
  @IfGiven()
  @Flag()
  broadcast_generation_identity: boolean = false;

  @ApiPropertyOptional({ default: false, description: 'True: request-context metadata is included.' })
  @IfGiven()
  @Flag()
  broadcast_generation_request_context: boolean = false;

  @ApiPropertyOptional({ default: 1, minimum: 0.0001, maximum: 1, format: 'double' })
  @IfGiven()
  @Min(0.0001, { message: 'must be at least 0.0001' })
  @Max(1, { message: 'must be at most 1' })
  @IsNumber({}, { message: 'must be a number' })
  sampling_rate: number = 1;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    minItems: 1,
    description: 'Hashes of the keys whose traffic is forwarded. Null or absent: all keys.',
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
    default: ['global'],
    description: '`eu` is stored as `europe`.',
  })
  @IfGiven()
  @IsIn(REGIONS, { each: true, message: `must hold only ${INPUT_REGIONS.join(', ')}` })
  @ArrayMinSize(1, { message: 'must have at least 1 element' })
  @IsArray({ message: 'must be an array' })
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? withoutAliases(value) : value))
  regions: Region[] = ['global'];

  @ApiPropertyOptional({ format: 'uuid', description: "Absent: the account's default workspace." })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;
}

function configClassOf(type: unknown): new () => object {
  return (typeof type === 'string' && findDestinationKind(type)?.configClass) || UnknownKindConfig;
}

function withoutAliases(regions: readonly unknown[]): unknown[] {
  return [...new Set(regions.map((region) => (region === 'eu' ? 'europe' : region)))];
}
