// A workspace on the wire. Contract: docs/contract.md#workspaces.
import { defaultGuardrailId } from '../../domain/guardrails/guardrail.js';
import type { Workspace } from '../../domain/workspace.js';
import type { WorkspaceSummary } from '../../persistence/workspaces/workspace-summaries.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { limitWindowName } from '../../domain/spend/spend-limit.js';
import { ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  NumberField,
  TextField,
  TimeField,
  UsdField,
  UuidField,
} from '../../http/fields/scalar-fields.js';

/** Settings that this service does not have: the record shows these values, and a body may only repeat them. */
export const ABSENT_SETTINGS = {
  default_text_model: null,
  default_image_model: null,
  default_provider_sort: null,
  is_observability_io_logging_enabled: false,
  io_logging_sampling_rate: 1,
  io_logging_api_key_ids: null,
  is_data_discount_logging_enabled: false,
  disabled_server_tools: null,
} as const;

const ALWAYS_NULL = {
  nullable: true,
  description: 'Always null: this service has no such setting.',
} as const;

export class WorkspaceDto {
  @UuidField() id: string;
  @TextField({ example: 'Production' }) name: string;
  @TextField({ example: 'production' }) slug: string;
  @TextField({ nullable: true }) description: string | null;
  @TimeField() created_at: string;
  @TimeField({ nullable: true, description: 'Null until the first change.' }) updated_at: string | null;
  @TextField({ nullable: true, description: 'The creator_user_id of the key that created it.' })
  created_by: string | null;
  @FlagField({ description: 'False: no destination of the workspace receives traces.' })
  is_observability_broadcast_enabled: boolean;
  @FlagField({ description: 'Whether calls through own provider keys count toward the budgets.' })
  include_byok_in_budgets: boolean;
  @TextField(ALWAYS_NULL) default_text_model: string | null;
  @TextField(ALWAYS_NULL) default_image_model: string | null;
  @TextField(ALWAYS_NULL) default_provider_sort: string | null;
  @UuidField({ description: 'The guardrail of all keys of the workspace, once it is configured.' })
  default_guardrail_id: string;
  @FlagField({ description: 'Always false: this service does not log inputs and outputs.' })
  is_observability_io_logging_enabled: boolean;
  @NumberField({ description: 'Always 1, without effect: this service does not log inputs and outputs.' })
  io_logging_sampling_rate: number;
  @ListField(Number, ALWAYS_NULL) io_logging_api_key_ids: number[] | null;
  @FlagField({ description: 'Always false.' }) is_data_discount_logging_enabled: boolean;
  @ListField(String, ALWAYS_NULL) disabled_server_tools: string[] | null;
}

export function toWorkspaceDto(workspace: Workspace): WorkspaceDto {
  return {
    ...ABSENT_SETTINGS,
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    default_guardrail_id: defaultGuardrailId(workspace.id),
    description: workspace.description,
    created_at: workspace.createdAt.toISOString(),
    updated_at: workspace.updatedAt?.toISOString() ?? null,
    created_by: workspace.createdBy,
    is_observability_broadcast_enabled: workspace.isBroadcastEnabled,
    include_byok_in_budgets: workspace.includeByokInBudgets,
  };
}

class BudgetStateDto {
  @EnumField(['daily', 'weekly', 'monthly', 'lifetime']) limit_window: string;
  @UsdField() limit_usd: number;
  @UsdField({ description: 'USD in its window, settled calls only.' }) spend_usd: number;
  @UsdField({ description: '0: calls are refused.' }) remaining_usd: number;
}

/** A workspace of the list: the additions are an extension of the contract. */
export class ListedWorkspaceDto extends WorkspaceDto {
  @UsdField({ description: 'USD since the first of the month, 00:00 UTC.' }) usage_monthly: number;
  @UsdField({ description: 'The same through own provider keys.' }) byok_usage_monthly: number;
  @ObjectListField(BudgetStateDto, { description: 'The smallest first.' }) budgets: BudgetStateDto[];
  @IntegerField({ description: 'Its keys, without deleted ones.' }) key_count: number;
  @IntegerField({ description: 'Calls that were refused in the last hour, seconds after they were.' })
  refused_last_hour: number;
}

export function toListedWorkspaceDto({
  workspace,
  summary,
}: {
  readonly workspace: Workspace;
  readonly summary: WorkspaceSummary;
}): ListedWorkspaceDto {
  const { spend, budgets, keys, refusedLastHour } = summary;
  return {
    ...toWorkspaceDto(workspace),
    usage_monthly: usdToNumber(spend.usage.monthly),
    byok_usage_monthly: usdToNumber(spend.byok.monthly),
    budgets: budgets.map(({ window, limit, spent }) => ({
      limit_window: limitWindowName({ window }),
      limit_usd: usdToNumber(limit),
      spend_usd: usdToNumber(spent),
      remaining_usd: spent < limit ? usdToNumber(limit - spent) : 0,
    })),
    key_count: keys,
    refused_last_hour: refusedLastHour,
  };
}
