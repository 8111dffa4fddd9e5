// The bodies and the query of the /workspaces operations. Source: contract section 6.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, Matches, MinLength, ValidateBy } from 'class-validator';
import { IfGiven, IfGivenAndNotNull } from '../../http/fields/optional-members.js';
import { IsStorableText } from '../../http/fields/storable-text.js';
import { ABSENT_SETTINGS } from './workspace.dto.js';

const MAX_NAME_LENGTH = 100;
const MAX_SLUG_LENGTH = 50;
const MAX_DESCRIPTION_LENGTH = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const NAME = { minLength: 1, maxLength: MAX_NAME_LENGTH, example: 'Production' };
const SLUG = {
  minLength: 1,
  maxLength: MAX_SLUG_LENGTH,
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  description: 'Unique in the account, and not of the form of a UUID: paths take either.',
  example: 'production',
};

const Name = (): PropertyDecorator =>
  applyDecorators(IsStorableText(MAX_NAME_LENGTH), MinLength(1, { message: 'must not be empty' }));

const Slug = (): PropertyDecorator =>
  applyDecorators(
    IsStorableText(MAX_SLUG_LENGTH),
    Matches(/^[a-z0-9]+(-[a-z0-9]+)*$/, {
      message: 'must be lower-case letters and digits, in runs joined by single hyphens',
    }),
    ValidateBy({
      name: 'isNoUuid',
      validator: {
        validate: (value) => typeof value === 'string' && !UUID.test(value),
        defaultMessage: () => 'must not have the form of a UUID',
      },
    }),
  );

/** A setting of the contract that this service has not: it may be sent as the record shows it, and not otherwise. */
function AbsentSetting(name: keyof typeof ABSENT_SETTINGS): PropertyDecorator {
  const value = ABSENT_SETTINGS[name];
  return applyDecorators(
    ApiPropertyOptional({
      ...(value === null ? { type: String, nullable: true } : {}),
      enum: [value],
      description: 'Only as the record has it: this service has no such setting.',
    }),
    IfGiven(),
    IsIn([value], { message: `must be ${value}: this service has no such setting` }),
  );
}

/** What both bodies have. */
class WorkspaceSettingsDto {
  @ApiPropertyOptional({ type: String, nullable: true, maxLength: MAX_DESCRIPTION_LENGTH })
  @IfGivenAndNotNull()
  @IsStorableText(MAX_DESCRIPTION_LENGTH)
  description?: string | null;

  @ApiPropertyOptional({
    description: 'The switch of all destinations of the workspace. True when it is created without.',
  })
  @IfGiven()
  @IsBoolean({ message: 'must be a boolean' })
  is_observability_broadcast_enabled?: boolean;

  @AbsentSetting('default_text_model')
  default_text_model?: null;

  @AbsentSetting('default_image_model')
  default_image_model?: null;

  @AbsentSetting('default_provider_sort')
  default_provider_sort?: null;

  @AbsentSetting('is_observability_io_logging_enabled')
  is_observability_io_logging_enabled?: false;

  @AbsentSetting('io_logging_sampling_rate')
  io_logging_sampling_rate?: 1;

  @AbsentSetting('io_logging_api_key_ids')
  io_logging_api_key_ids?: null;

  @AbsentSetting('is_data_discount_logging_enabled')
  is_data_discount_logging_enabled?: false;

  @AbsentSetting('disabled_server_tools')
  disabled_server_tools?: null;
}

export class CreateWorkspaceDto extends WorkspaceSettingsDto {
  @ApiProperty(NAME)
  @Name()
  name: string;

  @ApiProperty(SLUG)
  @Slug()
  slug: string;
}

export class UpdateWorkspaceDto extends WorkspaceSettingsDto {
  @ApiPropertyOptional(NAME)
  @IfGiven()
  @Name()
  name?: string;

  @ApiPropertyOptional(SLUG)
  @IfGiven()
  @Slug()
  slug?: string;
}

export class DeleteWorkspaceQueryDto {
  @ApiPropertyOptional({
    enum: ['true', 'false'],
    description:
      'Needed for the default workspace: its inference keys are disabled for ever, and requests must name a workspace ' +
      'from then on. Management keys stay.',
  })
  @IfGiven()
  @IsIn(['true', 'false'], { message: 'must be true or false' })
  confirm_default_workspace_deletion?: string;
}
