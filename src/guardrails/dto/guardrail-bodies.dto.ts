// The bodies and the query of the /guardrails operations. Contract: docs/contract.md#guardrails.
import { IsString, MaxLength, ValidateBy } from 'class-validator';
import { BUILTIN_SLUGS, MAX_CONTENT_FILTERS } from '../../domain/guardrails/content-filter.js';
import { DATA_REGIONS, MAX_GUARDRAIL_NAMES } from '../../domain/guardrails/guardrail.js';
import type { DataRegion } from '../../domain/guardrails/guardrail.js';
import { LIMIT_RESETS } from '../../domain/spend/spend.js';
import type { LimitReset } from '../../domain/spend/spend.js';
import { STORABLE_RULE } from '../../domain/text/storable-text.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import { FixedField, TakesRecord } from '../../http/fields/record-members.js';
import {
  EnumField,
  FlagField,
  TextField,
  UsdLimitField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import { BuiltinFilterDto, ContentFilterDto } from './content-filter.dto.js';
import { GuardrailDto } from './guardrail.dto.js';

const MAX_TEXT = 1_000;
const MAX_NAME = 200;
const OPTIONAL = { optional: true, nullable: true } as const;
const NAME = { minLength: 1, maxLength: MAX_TEXT, example: 'European models' };

/** `least` 1: products disagree on what an empty list allows. */
function NamesField(description: string, least?: 1): PropertyDecorator {
  return ListField(String, {
    ...OPTIONAL,
    ...(least === undefined
      ? {}
      : { minItems: least, minItemsMessage: 'must not be empty; null removes the rule' }),
    maxItems: MAX_GUARDRAIL_NAMES,
    rules: [
      IsString({ each: true, message: 'must hold strings' }),
      MaxLength(MAX_NAME, { each: true, message: `must hold names of at most ${MAX_NAME} characters` }),
      ValidateBy(STORABLE_RULE, { each: true }),
    ],
    description,
  });
}

const ZdrField = (models: string): PropertyDecorator =>
  FlagField({ ...OPTIONAL, description: `True: ${models} only where nothing is retained.` });

class GuardrailSettingsDto {
  @TextField({ ...OPTIONAL, maxLength: MAX_TEXT }) description?: string | null;

  @NamesField('Ids, aliases or canonical slugs of the only models that calls may use.', 1)
  allowed_models?: string[] | null;
  @NamesField('Models that calls may not use. They win over allowed ones.')
  ignored_models?: string[] | null;
  @NamesField('Slugs of the only providers, or tags of the only endpoints, that may serve.', 1)
  allowed_providers?: string[] | null;
  @NamesField('Providers or endpoints that must not serve. They win over allowed ones.')
  ignored_providers?: string[] | null;

  @ZdrField('models of Anthropic') enforce_zdr_anthropic?: boolean | null;
  @ZdrField('models of OpenAI') enforce_zdr_openai?: boolean | null;
  @ZdrField('models of Google') enforce_zdr_google?: boolean | null;
  @ZdrField('models of xAI') enforce_zdr_xai?: boolean | null;
  @ZdrField('all other models') enforce_zdr_other?: boolean | null;
  @FlagField({
    ...OPTIONAL,
    deprecated: true,
    description: 'Stands for those of the five members that the body omits.',
  })
  enforce_zdr?: boolean | null;

  @FlagField({ ...OPTIONAL, description: 'False: no endpoint with a price that trains on prompts.' })
  enable_paid_model_training?: boolean | null;
  @FlagField({ ...OPTIONAL, description: 'False: no endpoint without a price that trains on prompts.' })
  enable_free_model_training?: boolean | null;
  @FlagField({ ...OPTIONAL, description: 'Without an effect: no endpoint publishes prompts.' })
  enable_free_model_publication?: boolean | null;

  @ListField(String, {
    ...OPTIONAL,
    values: DATA_REGIONS,
    minItems: 1,
    minItemsMessage: 'must not be empty; null removes the rule',
    maxItems: DATA_REGIONS.length,
    description: 'This service is `global`: other lists refuse every call.',
  })
  allowed_data_regions?: DataRegion[] | null;

  @FlagField({
    optional: true,
    description:
      'Whether calls through own provider keys count toward `limit_usd`. A new guardrail has false.',
  })
  include_byok_in_budgets?: boolean;

  @UsdLimitField({
    ...OPTIONAL,
    positive: true,
    description:
      'USD, greater than 0, for each key that has the guardrail and for all keys of each member. Needs `reset_interval`.',
  })
  limit_usd?: number | null;
  @EnumField(LIMIT_RESETS, {
    ...OPTIONAL,
    description: 'The limit resets at 00:00 UTC; weeks begin on Monday. Needs `limit_usd`.',
  })
  reset_interval?: LimitReset | null;

  @ObjectListField(ContentFilterDto, {
    ...OPTIONAL,
    maxItems: MAX_CONTENT_FILTERS,
    description: 'Patterns that texts of calls are searched for.',
  })
  content_filters?: ContentFilterDto[] | null;
  @ObjectListField(BuiltinFilterDto, {
    ...OPTIONAL,
    maxItems: BUILTIN_SLUGS.length,
    description: 'Patterns that this service brings.',
  })
  content_filter_builtins?: BuiltinFilterDto[] | null;
  @FlagField({
    optional: true,
    description:
      'True: calls with images, audio, video, files or tokens are refused, which patterns cannot read. A new guardrail has false.',
  })
  reject_unscannable?: boolean;
}

@TakesRecord(GuardrailDto)
export class CreateGuardrailDto extends GuardrailSettingsDto {
  @TextField(NAME) name: string;
  @WorkspaceIdField() workspace_id?: string;
}

@TakesRecord(GuardrailDto)
export class UpdateGuardrailDto extends GuardrailSettingsDto {
  @TextField({ ...NAME, optional: true }) name?: string;
  @FixedField() workspace_id?: string;
}

export class GuardrailsQueryDto extends PageQueryDto {
  @WorkspaceIdField() workspace_id?: string;
}
