// The bodies of POST and PATCH /observability/destinations, and of a test. Contract: docs/contract.md#destinations,
// #masking, #delivery-operations.
import { ApiExtraModels, getSchemaPath, PickType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, ValidateIf, ValidateNested } from 'class-validator';
import { BaseDestinationConfig } from '../../destination-kinds/shared/destination-kind.js';
import { DESTINATION_KINDS, DESTINATION_TYPES, findDestinationKind } from '../../destination-kinds/index.js';
import type { Region } from '../../domain/destinations/destination.js';
import { configClassOf } from '../../http/configs/config-class.js';
import { CustomField, FreeObjectField } from '../../http/fields/compound-fields.js';
import { WithDefault } from '../../http/fields/field.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import { EnumField, UuidField, WorkspaceIdField } from '../../http/fields/scalar-fields.js';
import { DestinationDto } from './destination.dto.js';
import { DestinationNameField, DestinationOptionsDto } from './destination-options.dto.js';

const CONFIG_CLASSES = DESTINATION_KINDS.map(configClassOf);

/** The config of an unknown type has no rules: only `type` is reported. */
class UnknownKindConfig {}

@TakesRecord(DestinationDto)
@ApiExtraModels(...CONFIG_CLASSES)
export class CreateDestinationDto extends DestinationOptionsDto {
  @EnumField(DESTINATION_TYPES, {
    example: 'webhook',
    description: 'The kind, in either of its spellings.',
    message: `must be one of ${DESTINATION_KINDS.map((kind) => kind.type).join(', ')}`,
  })
  type: string;

  @DestinationNameField()
  name: string;

  // anyOf instead of oneOf: the configs of some kinds have the same members.
  @CustomField(
    { anyOf: CONFIG_CLASSES.map((configClass) => ({ $ref: getSchemaPath(configClass) })) },
    {
      rules: [
        Type((options) => classOfType(options?.object['type'])),
        ValidateNested({ message: 'must be an object' }),
        IsObject({ message: 'must be an object' }),
        ValidateIf((body: CreateDestinationDto) => !(body.config instanceof UnknownKindConfig)),
      ],
    },
  )
  config: BaseDestinationConfig;

  @WorkspaceIdField()
  workspace_id?: string;

  @WithDefault(true) override enabled: boolean = true;
  @WithDefault(false) override privacy_mode: boolean = false;
  @WithDefault(false) override broadcast_generation_cost: boolean = false;
  @WithDefault(false) override broadcast_generation_identity: boolean = false;
  @WithDefault(false) override broadcast_generation_request_context: boolean = false;
  @WithDefault(1) override sampling_rate: number = 1;
  @WithDefault(['global']) override regions: Region[] = ['global'];
}

function classOfType(type: unknown): new () => object {
  const kind = typeof type === 'string' ? findDestinationKind(type) : undefined;
  return kind ? configClassOf(kind) : UnknownKindConfig;
}

@TakesRecord(DestinationDto)
export class UpdateDestinationDto extends DestinationOptionsDto {
  @DestinationNameField({ optional: true })
  name?: string;

  @FreeObjectField({
    optional: true,
    description:
      "Members of the kind's config. Omitted members keep their value. An abbreviated value as the record shows it keeps " +
      'the stored value; any other abbreviation is rejected. Null removes an optional member. `headers` are replaced as a whole.',
    example: { url: 'https://example.com/traces' },
  })
  config?: Readonly<Record<string, unknown>>;

  @FixedField() type?: string;
  @FixedField() workspace_id?: string;
}

export class TestDestinationDto extends PickType(CreateDestinationDto, ['type', 'config'] as const) {
  @UuidField({
    optional: true,
    description: 'The destination whose stored secrets replace abbreviated values of `config`.',
  })
  destination_id?: string;
}
