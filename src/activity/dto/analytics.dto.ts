// The responses of analytics on the wire. Contract: docs/contract.md#activity-and-analytics.
import { IsArray } from 'class-validator';
import {
  DIMENSIONS,
  GRANULARITIES,
  METRICS,
  namesOf,
  OPERATORS,
} from '../../domain/generations/analytics.js';
import type { AnalyticsRow } from '../../domain/generations/analytics.js';
import { CustomField, ListField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  NumberField,
  TextField,
} from '../../http/fields/scalar-fields.js';

class NamedDto {
  @TextField({ example: 'model' }) name: string;
  @TextField({ example: 'Model' }) display_label: string;
}

class MetricDto extends NamedDto {
  @EnumField(['number', 'currency', 'percent', 'latency']) display_format: string;
  @FlagField({ description: 'True: values of several rows cannot be summed.' }) is_rate: boolean;
}

class OperatorDto {
  @TextField({ example: 'eq' }) name: string;
  @EnumField(['scalar', 'array']) value_type: string;
}

export class AnalyticsMetaDto {
  @ObjectListField(MetricDto) metrics: MetricDto[];
  @ObjectListField(NamedDto) dimensions: NamedDto[];
  @ObjectListField(NamedDto) granularities: NamedDto[];
  @ObjectListField(OperatorDto) operators: OperatorDto[];
}

class AnalyticsMetadataDto {
  @IntegerField() row_count: number;
  @FlagField({ description: 'Whether more rows exist than the limit.' }) truncated: boolean;
  @NumberField() query_time_ms: number;
}

class AnalyticsResultDto {
  @CustomField(
    { type: 'array', items: { type: 'object', additionalProperties: true } },
    {
      rules: [IsArray()],
      description:
        'A row has `date` (with a granularity) and the requested dimensions and metrics. Shares are between 0 and 1, ' +
        'latencies in milliseconds, amounts in USD.',
      example: [{ date: '2026-11-17T00:00:00Z', model: 'openai/text-embedding-3-small', request_count: 3 }],
    },
  )
  data: AnalyticsRow[];
  @ObjectField(AnalyticsMetadataDto) metadata: AnalyticsMetadataDto;
  @ListField(String, { description: 'Filter values that match no object of the account.' })
  warnings: string[];
}

export class AnalyticsResponseDto {
  @ObjectField(AnalyticsResultDto) data: AnalyticsResultDto;
}

export const ANALYTICS_META: AnalyticsMetaDto = {
  metrics: namesOf(METRICS).map((name) => ({
    name,
    display_label: METRICS[name].label,
    display_format: METRICS[name].format,
    is_rate: METRICS[name].isRate,
  })),
  dimensions: namesOf(DIMENSIONS).map((name) => ({ name, display_label: DIMENSIONS[name] })),
  granularities: namesOf(GRANULARITIES).map((name) => ({ name, display_label: GRANULARITIES[name] })),
  operators: namesOf(OPERATORS).map((name) => ({ name, value_type: OPERATORS[name] })),
};
