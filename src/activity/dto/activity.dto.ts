// An account's activity on the wire, and its query. Contract: docs/contract.md#activity-and-analytics.
import type { ActivityRow } from '../../domain/generations/activity.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { providerName } from '../../providers/index.js';
import {
  DayField,
  EnumField,
  KeyHashField,
  IntegerField,
  TextField,
  UsdField,
  UuidField,
} from '../../http/fields/scalar-fields.js';

export class ActivityQueryDto {
  @DayField({
    optional: true,
    example: '2026-11-20',
    description: 'One of the last 30 completed days.',
  })
  date?: string;

  @KeyHashField('SHA-256 of a key of the account in lower-case hexadecimal.')
  api_key_hash?: string;

  @TextField({
    optional: true,
    hiddenMaxLength: 256,
    description: 'Only calls of keys with this creator_user_id.',
  })
  user_id?: string;

  @UuidField({ optional: true })
  workspace_id?: string;

  @EnumField(['workspace'], {
    optional: true,
    message: 'must be workspace',
    description: 'Returns separate rows for each workspace.',
  })
  group_by?: string;
}

export class ActivityItemDto {
  @DayField({ description: 'A UTC day.' }) date: string;
  @TextField({ example: 'openai/text-embedding-3-small' }) model: string;
  @TextField({ description: 'Equals model.' }) model_permaslug: string;
  @TextField({
    example: 'openai/text-embedding-3-small',
    description: "The endpoint's tag and the provider's own name of the model; empty when none was reached.",
  })
  endpoint_id: string;
  @TextField({ example: 'OpenAI', description: 'Empty when no provider was reached.' }) provider_name: string;
  @IntegerField({ description: 'Number of calls, including failed ones.' }) requests: number;
  @IntegerField() prompt_tokens: number;
  @IntegerField({ description: 'Embeddings have none.' }) completion_tokens: number;
  @IntegerField({ description: 'The part of completion_tokens that is reasoning.' }) reasoning_tokens: number;
  @UsdField({ description: 'USD.' }) usage: number;
  @UsdField({ description: 'USD that providers charged to own provider keys.' }) byok_usage_inference: number;
  @UuidField({ optional: true, description: 'Only with group_by.' }) workspace_id?: string;
}

export function toActivityItemDto(row: ActivityRow): ActivityItemDto {
  return {
    date: row.date,
    model: row.model,
    model_permaslug: row.model,
    endpoint_id: row.endpoint ?? '',
    provider_name: row.provider === null ? '' : providerName(row.provider),
    requests: row.requests,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    reasoning_tokens: row.reasoningTokens,
    usage: usdToNumber(row.usage),
    byok_usage_inference: usdToNumber(row.byokUsage),
    ...(row.workspaceId === null ? {} : { workspace_id: row.workspaceId }),
  };
}
