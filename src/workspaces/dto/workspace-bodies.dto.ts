// The bodies and the query of the /workspaces operations. Contract: docs/contract.md#workspaces.
import { IsIn } from 'class-validator';
import { CustomField } from '../../http/fields/compound-fields.js';
import { Rule } from '../../http/fields/field.js';
import type { FieldOptions } from '../../http/fields/field.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import { EnumField, FlagField, TextField } from '../../http/fields/scalar-fields.js';
import { ABSENT_SETTINGS, WorkspaceDto } from './workspace.dto.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const NAME = { minLength: 1, maxLength: 100, example: 'Production' };

const SlugField = (options: FieldOptions = {}): PropertyDecorator =>
  TextField({
    ...options,
    minLength: 1,
    maxLength: 50,
    pattern: /^[a-z0-9]+(-[a-z0-9]+)*$/,
    patternMessage: 'must be lower-case letters and digits, in runs joined by single hyphens',
    rules: [
      Rule(
        'isNoUuid',
        (value) => typeof value === 'string' && !UUID.test(value),
        'must not have the form of a UUID',
      ),
    ],
    description: 'Unique in the account. Not in the form of a UUID, because paths accept the id or the slug.',
    example: 'production',
  });

/** A setting of the contract that this service does not have: a body may only repeat the value of the record. */
function AbsentSetting(name: keyof typeof ABSENT_SETTINGS): PropertyDecorator {
  const value = ABSENT_SETTINGS[name];
  return CustomField(
    { ...(value === null ? { type: String, nullable: true } : {}), enum: [value] },
    {
      optional: true,
      rules: [
        IsIn([value], { message: `must be ${JSON.stringify(value)}: this service has no such setting` }),
      ],
      description: 'Only the value of the record: this service has no such setting.',
    },
  );
}

class WorkspaceSettingsDto {
  @TextField({ optional: true, nullable: true, maxLength: 500 })
  description?: string | null;

  @FlagField({
    optional: true,
    description: 'Switches all destinations of the workspace on or off. A new workspace has true.',
  })
  is_observability_broadcast_enabled?: boolean;

  @AbsentSetting('default_text_model') default_text_model?: null;
  @AbsentSetting('default_image_model') default_image_model?: null;
  @AbsentSetting('default_provider_sort') default_provider_sort?: null;
  @AbsentSetting('is_observability_io_logging_enabled') is_observability_io_logging_enabled?: false;
  @AbsentSetting('io_logging_sampling_rate') io_logging_sampling_rate?: 1;
  @AbsentSetting('io_logging_api_key_ids') io_logging_api_key_ids?: null;
  @AbsentSetting('is_data_discount_logging_enabled') is_data_discount_logging_enabled?: false;
  @AbsentSetting('disabled_server_tools') disabled_server_tools?: null;
}

@TakesRecord(WorkspaceDto)
export class CreateWorkspaceDto extends WorkspaceSettingsDto {
  @TextField(NAME)
  name: string;

  @SlugField()
  slug: string;
}

@TakesRecord(WorkspaceDto)
export class UpdateWorkspaceDto extends WorkspaceSettingsDto {
  @TextField({ ...NAME, optional: true })
  name?: string;

  @SlugField({ optional: true })
  slug?: string;

  @FixedField() default_guardrail_id?: string;
  @FixedField({ type: Boolean }) include_byok_in_budgets?: boolean;
}

export class DeleteWorkspaceQueryDto {
  @EnumField(['true', 'false'], {
    optional: true,
    message: 'must be true or false',
    description:
      'Required for the default workspace. Its deletion disables its inference keys permanently, and later requests must ' +
      'name a workspace. Management keys stay valid.',
  })
  confirm_default_workspace_deletion?: string;
}
