// The bodies of the key operations. Contract: docs/contract.md#api-keys.
import { SECRET_PREFIX } from '../../domain/keys/api-key.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import type { LimitReset } from '../../domain/spend/spend.js';
import { ObjectField } from '../../http/fields/compound-fields.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import {
  EnumField,
  FlagField,
  FormattedField,
  IntegerField,
  TextField,
  TimeField,
  UsdLimitField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import { ApiKeyDto } from './api-key.dto.js';

const TEXT = { minLength: 1, maxLength: 1_000 };
const MAX_GRACE_SECONDS = 30 * 86_400;

abstract class KeyOptionsDto {
  @FlagField({ optional: true, description: 'True: requests with this key are rejected.' })
  disabled?: boolean;

  @UsdLimitField({ optional: true, nullable: true, description: 'USD; null: no limit.', example: 12.5 })
  limit?: number | null;

  @EnumField(LIMIT_RESETS, {
    optional: true,
    nullable: true,
    description: 'When the limit resets: at 00:00 UTC, weeks on Monday. Null: never.',
  })
  limit_reset?: LimitReset | null;

  @FlagField({
    optional: true,
    description: 'Whether spend through own provider keys counts toward the limit.',
  })
  include_byok_in_limit?: boolean;

  @FlagField({
    optional: true,
    description: 'Whether embeddings requests without a cache header use the cache.',
  })
  embedding_cache?: boolean;

  @TimeField({
    optional: true,
    nullable: true,
    description: 'In UTC, with seconds, in the future. Null: never.',
    example: '2027-01-31T12:00:00Z',
  })
  expires_at?: string | null;
}

class ExternalIdentityDto {
  @TextField({ ...TEXT, description: "The partner's name for its user." })
  user: string;

  @FormattedField({
    optional: true,
    // A secret of this service is one only of the key that it was made for.
    pattern: new RegExp(`^(?!${SECRET_PREFIX})[\\x21-\\x7e]{32,512}$`),
    message: `must have 32 to 512 visible ASCII characters and not begin with ${SECRET_PREFIX}`,
    minLength: 32,
    maxLength: 512,
    description: "The partner's secret, accepted as a credential of the key. Only its hash is stored.",
  })
  api_key?: string;
}

@TakesRecord(ApiKeyDto)
export class CreateKeyDto extends KeyOptionsDto {
  @TextField({ ...TEXT, example: 'Production' })
  name: string;

  @TextField({ ...TEXT, optional: true, nullable: true })
  creator_user_id?: string | null;

  @WorkspaceIdField()
  workspace_id?: string;

  @FlagField({
    optional: true,
    description:
      'True: a management key, which administrates the whole account and makes no calls; without a limit and without external.',
  })
  is_management_key?: boolean;

  @ObjectField(ExternalIdentityDto, { optional: true, description: "The key's identity at a partner." })
  external?: ExternalIdentityDto;
}

@TakesRecord(ApiKeyDto)
export class UpdateKeyDto extends KeyOptionsDto {
  @TextField({ ...TEXT, optional: true })
  name?: string;

  @FixedField() workspace_id?: string;
  @FixedField({ nullable: true }) creator_user_id?: string | null;
  @FixedField({ nullable: true }) external_user?: string | null;
}

export class RotateKeyDto {
  @IntegerField({
    minimum: 0,
    maximum: MAX_GRACE_SECONDS,
    default: 86_400,
    description: 'Seconds during which the replaced secret stays valid.',
  })
  grace_period_seconds: number = 86_400;
}
