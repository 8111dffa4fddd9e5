// The usage of the key that authenticates the request, and its query. Contract: docs/contract.md#api-keys.
import type { AnalyticsRow, MetricName } from '../../domain/generations/analytics.js';
import { DayField, IntegerField, TextField, UsdField } from '../../http/fields/scalar-fields.js';

export const MAX_USAGE_DAYS = 31;

export class KeyUsageQueryDto {
  @IntegerField({
    query: true,
    minimum: 1,
    maximum: MAX_USAGE_DAYS,
    rangeMessage: `must be from 1 to ${MAX_USAGE_DAYS}`,
    default: 30,
    description: 'Number of UTC days, today included.',
  })
  days = 30;
}

export class KeyUsageItemDto {
  @DayField({ description: 'A UTC day.' }) date: string;
  @TextField({ example: 'openai/text-embedding-3-small' }) model: string;
  @IntegerField({ description: 'Number of calls, including failed ones.' }) requests: number;
  @IntegerField() failed_requests: number;
  @IntegerField() prompt_tokens: number;
  @IntegerField({ description: 'Embeddings have none.' }) completion_tokens: number;
  @IntegerField({ description: 'The part of completion_tokens that is reasoning.' }) reasoning_tokens: number;
  @UsdField({ description: 'USD.' }) usage: number;
  @UsdField({ description: 'USD through own provider keys.' }) byok_usage: number;
}

type Sum = Exclude<keyof KeyUsageItemDto, 'date' | 'model'>;

/** The metric of each member. */
const METRIC_OF: Readonly<Record<Sum, MetricName>> = {
  requests: 'request_count',
  failed_requests: 'error_count',
  prompt_tokens: 'prompt_tokens',
  completion_tokens: 'completion_tokens',
  reasoning_tokens: 'reasoning_tokens',
  usage: 'total_usage',
  byok_usage: 'byok_usage',
};
export const USAGE_METRICS = Object.values(METRIC_OF);

/** A row by day and model. */
export function toKeyUsageItemDto(row: AnalyticsRow): KeyUsageItemDto {
  const sum = (member: Sum): number => Number(row[METRIC_OF[member]]);
  return {
    date: String(row['date']).slice(0, 'YYYY-MM-DD'.length),
    model: String(row['model']),
    requests: sum('requests'),
    failed_requests: sum('failed_requests'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
    usage: sum('usage'),
    byok_usage: sum('byok_usage'),
  };
}
