// The own-key policy of a workspace on the wire. Contract: docs/contract.md#own-keys.
import { NO_OWN_KEYS } from '../../domain/keys/own-key-policy.js';
import type { StoredOwnKeyPolicy } from '../../domain/keys/own-key-policy.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import type { LimitReset } from '../../domain/spend/spend.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  TimeField,
  UsdField,
  UsdLimitField,
  UuidField,
} from '../../http/fields/scalar-fields.js';

const MAX_KEYS = 1_000;
const MAX_DAYS = 3_650;

const ENABLED = 'Whether developers make keys for themselves in the workspace.';
const KEYS = 'Keys of one person, without deleted and expired ones.';
const DEFAULT_LIMIT = 'USD, of keys that name no limit. Null: `max_limit`.';
const HIGHEST_LIMIT = 'USD. Null: keys may be without a limit.';
const RESET = '`limit_reset` of all these keys.';
const DAYS = 'Days until a key expires, at most. Null: keys may be without an expiry.';
const BYOK = '`include_byok_in_limit` of all these keys.';

export class OwnKeyPolicyDto {
  @UuidField() workspace_id: string;
  @FlagField({ description: ENABLED }) enabled: boolean;
  @IntegerField({ description: KEYS }) max_keys: number;
  @UsdField({ nullable: true, description: DEFAULT_LIMIT }) default_limit: number | null;
  @UsdField({ nullable: true, description: HIGHEST_LIMIT }) max_limit: number | null;
  @EnumField(LIMIT_RESETS, { nullable: true, description: RESET }) limit_reset: string | null;
  @IntegerField({ nullable: true, description: DAYS }) max_days: number | null;
  @FlagField({ description: BYOK }) include_byok_in_limit: boolean;
  @TimeField({ nullable: true, description: 'Null: it was never set.' }) updated_at: string | null;
}

@TakesRecord(OwnKeyPolicyDto)
export class PutOwnKeyPolicyDto {
  @FlagField({ description: ENABLED })
  enabled: boolean;

  @IntegerField({ minimum: 1, maximum: MAX_KEYS, default: NO_OWN_KEYS.maxKeys, description: KEYS })
  max_keys: number = NO_OWN_KEYS.maxKeys;

  @UsdLimitField({ optional: true, nullable: true, description: DEFAULT_LIMIT, example: 5 })
  default_limit?: number | null;

  @UsdLimitField({ optional: true, nullable: true, description: HIGHEST_LIMIT, example: 20 })
  max_limit?: number | null;

  @EnumField(LIMIT_RESETS, { optional: true, nullable: true, description: RESET })
  limit_reset?: LimitReset | null;

  @IntegerField({ optional: true, nullable: true, minimum: 1, maximum: MAX_DAYS, description: DAYS })
  max_days?: number | null;

  @FlagField({ optional: true, description: `${BYOK} Default: false.` })
  include_byok_in_limit?: boolean;

  @FixedField() workspace_id?: string;
}

export function toOwnKeyPolicyDto(policy: StoredOwnKeyPolicy): OwnKeyPolicyDto {
  return {
    workspace_id: policy.workspaceId,
    enabled: policy.enabled,
    max_keys: policy.maxKeys,
    default_limit: policy.defaultLimit === null ? null : usdToNumber(policy.defaultLimit),
    max_limit: policy.maxLimit === null ? null : usdToNumber(policy.maxLimit),
    limit_reset: policy.limitReset,
    max_days: policy.maxDays,
    include_byok_in_limit: policy.includeByokInLimit,
    updated_at: policy.updatedAt?.toISOString() ?? null,
  };
}
