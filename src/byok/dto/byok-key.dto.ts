// A provider credential on the wire: never its key. Source: contract section 6 (/byok).
import { ApiProperty } from '@nestjs/swagger';
import type { ProviderCredentialRecord } from '../../domain/embeddings/provider-credential.js';

export class ByokKeyDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  workspace_id: string;

  @ApiProperty({ example: 'openai' })
  provider: string;

  @ApiProperty({ type: String, nullable: true })
  name: string | null;

  @ApiProperty({ description: 'The abbreviated key.', example: 'sk-p...AbCd' })
  label: string;

  @ApiProperty()
  disabled: boolean;

  @ApiProperty({ description: "Tried only after the service's own credential." })
  is_fallback: boolean;

  @ApiProperty({
    description: "The service's own credential is not used for calls that this one may serve.",
  })
  is_required: boolean;

  @ApiProperty({ description: 'The same as is_required.' })
  is_byok_only: boolean;

  @ApiProperty({ type: 'integer', description: 'The lowest is tried first; of equal ones, the oldest.' })
  sort_order: number;

  @ApiProperty({ type: [String], nullable: true, description: 'Null: every model.' })
  allowed_models: readonly string[] | null;

  @ApiProperty({ type: [String], nullable: true, description: 'Hashes of API keys. Null: every key.' })
  allowed_api_key_hashes: readonly string[] | null;

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'The credential serves only API keys with one of these creator_user_id. Null: every key.',
  })
  allowed_user_ids: readonly string[] | null;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description:
      'Whether the account at the provider keeps nothing. Null: what the catalogue says of the endpoint holds.',
  })
  declared_zdr: boolean | null;

  @ApiProperty({ format: 'date-time' })
  created_at: string;
}

export class ByokKeyResponseDto {
  @ApiProperty()
  data: ByokKeyDto;
}

export class ByokKeyListDto {
  @ApiProperty({ type: [ByokKeyDto] })
  data: ByokKeyDto[];

  @ApiProperty({ type: 'integer', description: 'Of the whole list.' })
  total_count: number;
}

export function toByokKeyDto(credential: ProviderCredentialRecord): ByokKeyDto {
  return {
    id: credential.id,
    workspace_id: credential.workspaceId,
    provider: credential.provider,
    name: credential.name,
    label: credential.label,
    disabled: credential.disabled,
    is_fallback: credential.isFallback,
    is_required: credential.isRequired,
    is_byok_only: credential.isByokOnly,
    sort_order: credential.sortOrder,
    allowed_models: listOrNull(credential.allowedModels),
    allowed_api_key_hashes: listOrNull(credential.allowedApiKeyHashes),
    allowed_user_ids: listOrNull(credential.allowedUserIds),
    declared_zdr: credential.declaredZdr,
    created_at: credential.createdAt.toISOString(),
  };
}

function listOrNull(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}
