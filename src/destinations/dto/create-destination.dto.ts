// The body of POST /observability/destinations. Source: interface; contract 2.1; decisions 1, 8, 9 and 10.
import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsUUID, ValidateIf, ValidateNested } from 'class-validator';
import { BaseDestinationConfig } from '../../destination-kinds/shared/destination-kind.js';
import { DESTINATION_KINDS, DESTINATION_TYPES, findDestinationKind } from '../../destination-kinds/index.js';
import type { Region } from '../../domain/destinations/destination.js';
import { IfGiven } from '../../http/fields/optional-members.js';
import { DestinationOptionsDto, IsDestinationName } from './destination-options.dto.js';

const CONFIG_CLASSES = DESTINATION_KINDS.map((kind) => kind.configClass);

/** A config of an unknown type: its members cannot be judged, only `type` is complained of. */
class UnknownKindConfig {}

@ApiExtraModels(...CONFIG_CLASSES)
export class CreateDestinationDto extends DestinationOptionsDto {
  @ApiProperty({
    enum: DESTINATION_TYPES,
    example: 'webhook',
    description: 'The kind, in either of its spellings.',
  })
  @IsIn(DESTINATION_TYPES, { message: `must be one of ${DESTINATION_TYPES.join(', ')}` })
  type: string;

  @ApiProperty({ example: 'Production traces' })
  @IsDestinationName()
  name: string;

  // Not oneOf: the configs of some kinds have the same members.
  @ApiProperty({ anyOf: CONFIG_CLASSES.map((configClass) => ({ $ref: getSchemaPath(configClass) })) })
  @ValidateIf((body: CreateDestinationDto) => !(body.config instanceof UnknownKindConfig))
  @IsObject({ message: 'must be an object' })
  @ValidateNested({ message: 'must be an object' })
  @Type((options) => configClassOf(options?.object['type']))
  config: BaseDestinationConfig;

  @ApiPropertyOptional({ format: 'uuid', description: "Absent: the account's default workspace." })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;

  @ApiPropertyOptional({ default: true })
  override enabled: boolean = true;

  @ApiPropertyOptional({ default: false })
  override privacy_mode: boolean = false;

  @ApiPropertyOptional({ default: false })
  override broadcast_generation_cost: boolean = false;

  @ApiPropertyOptional({ default: false })
  override broadcast_generation_identity: boolean = false;

  @ApiPropertyOptional({ default: false })
  override broadcast_generation_request_context: boolean = false;

  @ApiPropertyOptional({ default: 1 })
  override sampling_rate: number = 1;

  @ApiPropertyOptional({ default: ['global'] })
  override regions: Region[] = ['global'];
}

function configClassOf(type: unknown): new () => object {
  return (typeof type === 'string' && findDestinationKind(type)?.configClass) || UnknownKindConfig;
}
