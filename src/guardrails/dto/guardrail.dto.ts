// A guardrail on the wire. Contract: docs/contract.md#guardrails.
import { DATA_REGIONS } from '../../domain/guardrails/guardrail.js';
import type { Guardrail } from '../../domain/guardrails/guardrail.js';
import { usdOrNull } from '../../domain/spend/money.js';
import { ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  TextField,
  TimeField,
  UsdField,
  UuidField,
} from '../../http/fields/scalar-fields.js';
import {
  BuiltinFilterDto,
  ContentFilterDto,
  toBuiltinFilterDto,
  toContentFilterDto,
} from './content-filter.dto.js';

const NULLABLE = { nullable: true } as const;
const RESET_INTERVALS = ['daily', 'weekly', 'monthly', null] as const;

export class GuardrailDto {
  @UuidField() id: string;
  @UuidField() workspace_id: string;
  @TextField({ example: 'European models' }) name: string;
  @TextField(NULLABLE) description: string | null;
  @ListField(String, { ...NULLABLE, description: 'Canonical slugs. Null: all models.' })
  allowed_models: string[] | null;
  @ListField(String, { ...NULLABLE, description: 'Canonical slugs.' }) ignored_models: string[] | null;
  @ListField(String, { ...NULLABLE, description: 'Null: all providers.' }) allowed_providers: string[] | null;
  @ListField(String, NULLABLE) ignored_providers: string[] | null;
  @FlagField({ ...NULLABLE, description: 'True: models of Anthropic only where nothing is retained.' })
  enforce_zdr_anthropic: boolean | null;
  @FlagField({ ...NULLABLE, description: 'The same for models of OpenAI.' }) enforce_zdr_openai:
    boolean | null;
  @FlagField({ ...NULLABLE, description: 'The same for models of Google.' }) enforce_zdr_google:
    boolean | null;
  @FlagField({ ...NULLABLE, description: 'The same for models of xAI.' }) enforce_zdr_xai: boolean | null;
  @FlagField({ ...NULLABLE, description: 'The same for all other models.' }) enforce_zdr_other:
    boolean | null;
  @FlagField({ ...NULLABLE, description: 'False: no endpoint with a price that trains on prompts.' })
  enable_paid_model_training: boolean | null;
  @FlagField({ ...NULLABLE, description: 'False: no endpoint without a price that trains on prompts.' })
  enable_free_model_training: boolean | null;
  @FlagField({ ...NULLABLE, description: 'Without an effect: no endpoint publishes prompts.' })
  enable_free_model_publication: boolean | null;
  @ListField(String, {
    ...NULLABLE,
    values: DATA_REGIONS,
    description: 'This service is `global`: other lists refuse every call.',
  })
  allowed_data_regions: string[] | null;
  @FlagField({ description: 'Whether calls through own provider keys count toward `limit_usd`.' })
  include_byok_in_budgets: boolean;
  @UsdField({
    ...NULLABLE,
    description: 'USD for each key, and for all keys of each member. Null: no limit.',
  })
  limit_usd: number | null;
  @EnumField(RESET_INTERVALS, { ...NULLABLE, description: 'Null without a limit.' }) reset_interval:
    string | null;
  @ObjectListField(ContentFilterDto, NULLABLE) content_filters: ContentFilterDto[] | null;
  @ObjectListField(BuiltinFilterDto, NULLABLE) content_filter_builtins: BuiltinFilterDto[] | null;
  @FlagField({ description: 'Whether calls with parts that patterns cannot read are refused.' })
  reject_unscannable: boolean;
  @TimeField() created_at: string;
  @TimeField({ nullable: true, description: 'Null until the first change.' }) updated_at: string | null;
}

export function toGuardrailDto(guardrail: Guardrail): GuardrailDto {
  const { enforceZdr } = guardrail;
  const listed = (names: readonly string[] | null) => names && [...names];
  return {
    id: guardrail.id,
    workspace_id: guardrail.workspaceId,
    name: guardrail.name,
    description: guardrail.description,
    allowed_models: listed(guardrail.allowedModels),
    ignored_models: listed(guardrail.ignoredModels),
    allowed_providers: listed(guardrail.allowedProviders),
    ignored_providers: listed(guardrail.ignoredProviders),
    enforce_zdr_anthropic: enforceZdr.anthropic,
    enforce_zdr_openai: enforceZdr.openai,
    enforce_zdr_google: enforceZdr.google,
    enforce_zdr_xai: enforceZdr.xai,
    enforce_zdr_other: enforceZdr.other,
    enable_paid_model_training: guardrail.enablePaidModelTraining,
    enable_free_model_training: guardrail.enableFreeModelTraining,
    enable_free_model_publication: guardrail.enableFreeModelPublication,
    allowed_data_regions: listed(guardrail.allowedDataRegions),
    include_byok_in_budgets: guardrail.includeByokInBudgets,
    limit_usd: usdOrNull(guardrail.limit),
    reset_interval: guardrail.limitReset,
    content_filters: filtersOrNull(guardrail.contentFilters.map(toContentFilterDto)),
    content_filter_builtins: filtersOrNull(guardrail.builtinFilters.map(toBuiltinFilterDto)),
    reject_unscannable: guardrail.rejectUnscannable,
    created_at: guardrail.createdAt.toISOString(),
    updated_at: guardrail.updatedAt?.toISOString() ?? null,
  };
}

function filtersOrNull<Dto>(filters: Dto[]): Dto[] | null {
  return filters.length === 0 ? null : filters;
}
