// Presets on the wire. Contract: docs/contract.md#presets.
import { PRESET_STATUSES } from '../../domain/preset.js';
import type { DetailedPreset, Preset, PresetStatus, PresetVersion } from '../../domain/preset.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { FreeObjectField, ObjectField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  IntegerField,
  TextField,
  TimeField,
  UuidField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';

export class PresetDto {
  @UuidField() id: string;
  @UuidField() workspace_id: string;
  @TextField({ example: 'support' }) slug: string;
  @TextField({ description: 'The slug.' }) name: string;
  @TextField({ nullable: true, description: 'Always null.' }) description: string | null;
  @EnumField(PRESET_STATUSES, { description: 'Calls can use active presets only.' }) status: PresetStatus;
  @TimeField({ nullable: true, description: 'Null: it has had one status only.' })
  status_updated_at: string | null;
  @UuidField({ description: 'The version that calls use.' }) designated_version_id: string;
  @TextField({ nullable: true, description: 'Always null.' }) creator_user_id: string | null;
  @TimeField() created_at: string;
  @TimeField() updated_at: string;
}

export class PresetVersionDto {
  @UuidField() id: string;
  @UuidField() preset_id: string;
  @IntegerField({ minimum: 1 }) version: number;
  @FreeObjectField({
    description: 'Members of a chat completion, whatever the wire of the body that made the version.',
    example: { model: 'openai/gpt-4.1-mini', temperature: 0.2 },
  })
  config: object;
  @TextField({ nullable: true, description: 'Comes before the messages of a call.' }) system_prompt:
    string | null;
  @TextField({ description: 'The hash of the key that made it.' }) creator_id: string;
  @TimeField() created_at: string;
  @TimeField({ description: 'Equals `created_at`: versions never change.' }) updated_at: string;
}

export class DetailedPresetDto extends PresetDto {
  @ObjectField(PresetVersionDto) designated_version: PresetVersionDto;
}

export class PresetQueryDto {
  @WorkspaceIdField()
  workspace_id?: string;
}

export class PresetsQueryDto extends PageQueryDto {
  @WorkspaceIdField()
  workspace_id?: string;
}

export class UpdatePresetDto {
  @EnumField(PRESET_STATUSES, { optional: true })
  status?: PresetStatus;

  @IntegerField({
    optional: true,
    minimum: 1,
    description: 'The number of the version that calls use from now on.',
  })
  designated_version?: number;
}

export function toPresetDto(preset: Preset): PresetDto {
  return {
    id: preset.id,
    workspace_id: preset.workspaceId,
    slug: preset.slug,
    name: preset.slug,
    description: null,
    status: preset.status,
    status_updated_at: preset.statusUpdatedAt?.toISOString() ?? null,
    designated_version_id: preset.designatedVersionId,
    creator_user_id: null,
    created_at: preset.createdAt.toISOString(),
    updated_at: preset.updatedAt.toISOString(),
  };
}

export function toPresetVersionDto(version: PresetVersion): PresetVersionDto {
  return {
    id: version.id,
    preset_id: version.presetId,
    version: version.version,
    config: JSON.parse(version.config) as object,
    system_prompt: version.systemPrompt,
    creator_id: version.creatorId,
    created_at: version.createdAt.toISOString(),
    updated_at: version.createdAt.toISOString(),
  };
}

export function toDetailedPresetDto({ preset, designated }: DetailedPreset): DetailedPresetDto {
  return { ...toPresetDto(preset), designated_version: toPresetVersionDto(designated) };
}
