// A provider credential on the wire, without its key. Contract: docs/contract.md#provider-credentials.
import type { ProviderCredentialRecord } from '../../domain/providers/provider-credential.js';
import { ListField } from '../../http/fields/compound-fields.js';
import { FlagField, IntegerField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

export class ByokKeyDto {
  @UuidField() id: string;
  @UuidField() workspace_id: string;
  @TextField({ example: 'openai' }) provider: string;
  @TextField({ nullable: true }) name: string | null;
  @TextField({ description: 'The abbreviated key.', example: 'sk-p...AbCd' }) label: string;
  @FlagField() disabled: boolean;
  @FlagField({ description: "Tried only after the service's own credential." }) is_fallback: boolean;
  @FlagField({
    description: "True: calls that this credential can serve never use the service's own credential.",
  })
  is_required: boolean;
  @FlagField({ description: 'Alias of is_required.' }) is_byok_only: boolean;
  @IntegerField({ description: 'Credentials are tried in ascending order; equal ones, oldest first.' })
  sort_order: number;
  @ListField(String, { nullable: true, description: 'Null: every model.' })
  allowed_models: readonly string[] | null;
  @ListField(String, { nullable: true, description: 'Hashes of API keys. Null: every key.' })
  allowed_api_key_hashes: readonly string[] | null;
  @ListField(String, {
    nullable: true,
    description: 'The credential serves only API keys with one of these creator_user_id. Null: every key.',
  })
  allowed_user_ids: readonly string[] | null;
  @FlagField({
    nullable: true,
    description:
      'Whether the account at the provider retains no data. Null: the policy in the catalogue applies.',
  })
  declared_zdr: boolean | null;
  @TimeField() created_at: string;
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
