// Refused calls on the wire, and the query of their list. Contract: docs/contract.md#refusals.
import { REFUSAL_REASONS } from '../../domain/keys/refusal.js';
import type { Refusal, RefusalReason } from '../../domain/keys/refusal.js';
import { usdOrNull } from '../../domain/spend/money.js';
import { limitWindowName } from '../../domain/spend/spend-limit.js';
import {
  EnumField,
  IntegerField,
  KeyHashField,
  LimitField,
  TextField,
  TimeField,
  UsdField,
  UuidField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import type { LoggedKeyNames } from '../../persistence/generations/logged-keys.js';

const MAX_LIMIT = 100;

export class RefusalsQueryDto {
  @WorkspaceIdField('Default: all workspaces of the account.')
  workspace_id?: string;

  @KeyHashField('Only calls of the key with this hash.')
  api_key_hash?: string;

  @EnumField(REFUSAL_REASONS, {
    optional: true,
    description: 'Only calls that were refused for this reason.',
  })
  reason?: RefusalReason;

  @LimitField({ maximum: MAX_LIMIT, default: MAX_LIMIT })
  limit = MAX_LIMIT;
}

export class RefusalDto {
  @UuidField() id: string;
  @TimeField() created_at: string;
  @UuidField() workspace_id: string;
  @TextField({ nullable: true, description: 'Null: the record of the key is purged.' }) api_key_hash:
    string | null;
  @TextField({ nullable: true }) api_key_name: string | null;
  @EnumField(REFUSAL_REASONS, {
    description:
      '`key_limit`, `workspace_limit` and `account_limit`: a call may cost more than is left. `rate`: too many requests or ' +
      'records. `permission`: the key or the preferences do not allow it. `guardrail`: a rule of the workspace does not. ' +
      '`validation`: the request is wrong.',
  })
  reason: string;
  @TextField({ description: 'The x-request-id of the response.' }) request_id: string;
  @TextField({ description: 'The message of the response, at most 300 characters.' }) message: string;
  @UsdField({ nullable: true, description: 'USD that the call may cost. Null: no limit refused it.' })
  needed_usd: number | null;
  @UsdField({ nullable: true, description: 'USD that were left of the limit.' }) left_usd: number | null;
  @UsdField({ nullable: true }) limit_usd: number | null;
  @EnumField(['daily', 'weekly', 'monthly', 'lifetime'], { nullable: true }) limit_window: string | null;
  @TimeField({ nullable: true, description: 'Null as well: the limit does not reset.' }) resets_at:
    string | null;
  @IntegerField({
    nullable: true,
    description:
      'Of a chat without a token limit, which reserves the longest answer: the longest one that fitted what was left.',
  })
  affordable_output_tokens: number | null;
}

export function toRefusalDto(refusal: Refusal, key: LoggedKeyNames | undefined): RefusalDto {
  const { limit } = refusal;
  return {
    id: refusal.id,
    created_at: refusal.createdAt.toISOString(),
    workspace_id: refusal.workspaceId,
    api_key_hash: key?.hash ?? null,
    api_key_name: key?.name ?? null,
    reason: refusal.reason,
    request_id: refusal.requestId,
    message: refusal.message,
    needed_usd: usdOrNull(limit?.needed ?? null),
    left_usd: usdOrNull(limit?.left ?? null),
    limit_usd: usdOrNull(limit?.limit ?? null),
    limit_window: limit && limitWindowName(limit),
    resets_at: limit?.resetsAt?.toISOString() ?? null,
    affordable_output_tokens: limit?.affordableTokens ?? null,
  };
}
