// The bodies and the query of the /byok operations. Contract: docs/contract.md#provider-credentials.
import { Transform } from 'class-transformer';
import { IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { KEY_HASH } from '../../domain/keys/api-key.js';
import { PROVIDERS, providerSlugOf } from '../../providers/index.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { ListField } from '../../http/fields/compound-fields.js';
import type { FieldOptions } from '../../http/fields/field.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  SecretField,
  TextField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import { ByokKeyDto } from './byok-key.dto.js';

// Providers without a network transport take no key.
const CUSTOMER_PROVIDERS = PROVIDERS.filter(({ transport }) => transport === 'http').map(({ slug }) => slug);
const MAX_SORT_ORDER = 1_000_000;
const MAX_NAME_LENGTH = 256;

/** Aliases become the provider's own slug, which records show. */
const toOwnSlug = Transform(({ value }: { value: unknown }) =>
  typeof value === 'string' ? (providerSlugOf(value) ?? value) : value,
);

const ProviderField = (options: FieldOptions): PropertyDecorator =>
  EnumField(CUSTOMER_PROVIDERS, { ...options, rules: [toOwnSlug] });

/** A list that restricts a credential. Null means no restriction, so that an empty list cannot be sent by mistake. */
const AllowListField = (elementRules: readonly PropertyDecorator[], description: string): PropertyDecorator =>
  ListField(String, {
    optional: true,
    nullable: true,
    minItems: 1,
    maxItems: 100,
    minItemsMessage: 'must have at least 1 element, or be null for no restriction',
    rules: elementRules,
    description: `${description} Null: no restriction.`,
  });

const NAMES = [
  IsString({ each: true, message: 'must hold strings' }),
  MinLength(1, { each: true, message: 'must not hold empty strings' }),
  MaxLength(MAX_NAME_LENGTH, {
    each: true,
    message: `must hold strings of at most ${MAX_NAME_LENGTH} characters`,
  }),
  Matches(/^[^\p{Cs}\0]*$/u, { each: true, message: 'must not hold NUL or half a surrogate pair' }),
];

const KEY_HASHES = [
  Matches(KEY_HASH, {
    each: true,
    message: 'must hold key hashes of 64 lower-case hexadecimal digits',
  }),
];

// Every provider takes its key, or the parts of it, in a header. With a key that cannot be sent, calls would fall back to
// the service's own credential and charge the account.
const SENDABLE = /^(?! )[\x20-\x7e]*(?<! )$/;

const RawKeyField = (options: FieldOptions): PropertyDecorator =>
  SecretField({
    ...options,
    minLength: 1,
    maxLength: 10_000,
    rules: [
      Matches(SENDABLE, {
        message: 'must hold printable ASCII characters alone, without spaces around them',
      }),
    ],
    example: 'sk-proj-0123456789abcdef',
  });

class ByokSettingsDto {
  @TextField({ optional: true, nullable: true, maxLength: 1_000, example: 'Production' })
  name?: string | null;

  @FlagField({ optional: true, description: 'True: no call uses it.' })
  disabled?: boolean;

  @FlagField({
    optional: true,
    description: "Tried only after the service's own credential. Excludes is_byok_only.",
  })
  is_fallback?: boolean;

  @FlagField({
    optional: true,
    description: "True: calls that this credential can serve never use the service's own credential.",
  })
  is_required?: boolean;

  @FlagField({ optional: true, description: 'Alias of is_required.' })
  is_byok_only?: boolean;

  @IntegerField({
    optional: true,
    minimum: 0,
    maximum: MAX_SORT_ORDER,
    rangeMessage: `must be from 0 to ${MAX_SORT_ORDER}`,
    description: 'Credentials are tried in ascending order; equal ones, oldest first.',
  })
  sort_order?: number;

  @AllowListField(NAMES, 'Ids of models that the credential serves.')
  allowed_models?: string[] | null;

  @AllowListField(KEY_HASHES, 'Hashes of API keys that the credential serves.')
  allowed_api_key_hashes?: string[] | null;

  @AllowListField(NAMES, 'The credential serves only API keys with one of these creator_user_id.')
  allowed_user_ids?: string[] | null;

  @FlagField({
    optional: true,
    nullable: true,
    description:
      'Whether the account at the provider retains no data. Null: the policy in the catalogue applies.',
  })
  declared_zdr?: boolean | null;
}

@TakesRecord(ByokKeyDto)
export class CreateByokKeyDto extends ByokSettingsDto {
  @ProviderField({ example: 'openai', description: 'A slug, or an alias that GET /providers lists.' })
  provider: string;

  @RawKeyField({ description: 'Stored encrypted, never returned.' })
  key: string;

  @WorkspaceIdField()
  workspace_id?: string;
}

@TakesRecord(ByokKeyDto)
export class UpdateByokKeyDto extends ByokSettingsDto {
  @RawKeyField({ optional: true, description: 'Replaces the stored key.' })
  key?: string;

  @FixedField({ rules: [toOwnSlug] }) provider?: string;
  @FixedField() workspace_id?: string;
}

export class ListByokKeysQueryDto extends PageQueryDto {
  @WorkspaceIdField()
  workspace_id?: string;

  @ProviderField({ optional: true })
  provider?: string;
}
