// The things that a person may still spend and make in a workspace. Contract: docs/contract.md#own-keys.
import type { EffectiveLimit } from '../../domain/spend/spend-limit.js';
import { ObjectField } from '../../http/fields/compound-fields.js';
import { IntegerField, TextField, UuidField, WorkspaceIdField } from '../../http/fields/scalar-fields.js';
import { EffectiveLimitDto, toEffectiveLimitDto } from './api-key.dto.js';

export class OwnMemberQueryDto {
  @WorkspaceIdField() workspace_id?: string;
}

class OwnBudgetDto extends EffectiveLimitDto {
  @UuidField() guardrail_id: string;
  @TextField() guardrail_name: string;
}

export class OwnMemberDto {
  @TextField({
    nullable: true,
    description: 'Null: a management key without a creator asks.',
    example: 'usr_0123456789abcdef0123456789abcdef',
  })
  user_id: string | null;
  @UuidField() workspace_id: string;
  @IntegerField({ description: 'Keys that count toward `max_keys` of the own-key policy.' })
  key_count: number;
  @ObjectField(OwnBudgetDto, {
    nullable: true,
    description: "The limit of all keys of the user in the workspace, by the member's guardrail. Null: none.",
  })
  budget: OwnBudgetDto | null;
}

export interface OwnMember {
  /** Null: a key without a creator. */
  readonly userId: string | null;
  readonly workspaceId: string;
  readonly keys: number;
  /** Null: none. */
  readonly budget: {
    readonly guardrail: { readonly id: string; readonly name: string };
    readonly limit: EffectiveLimit;
  } | null;
}

export function toOwnMemberDto({ userId, workspaceId, keys, budget }: OwnMember): OwnMemberDto {
  return {
    user_id: userId,
    workspace_id: workspaceId,
    key_count: keys,
    budget: budget && {
      ...toEffectiveLimitDto(budget.limit),
      guardrail_id: budget.guardrail.id,
      guardrail_name: budget.guardrail.name,
    },
  };
}
