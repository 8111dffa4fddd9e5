// The body of POST /analytics/query. Contract: docs/contract.md#activity-and-analytics.
import {
  DIMENSIONS,
  GRANULARITIES,
  METRICS,
  namesOf,
  OPERATORS,
} from '../../domain/generations/analytics.js';
import type {
  DimensionName,
  Granularity,
  MetricName,
  OperatorName,
} from '../../domain/generations/analytics.js';
import { isStorableText } from '../../domain/text/storable-text.js';
import { CustomField, ListField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { Rule } from '../../http/fields/field.js';
import { EnumField, IntegerField, TimeField } from '../../http/fields/scalar-fields.js';

const METRIC_NAMES = namesOf(METRICS);
const DIMENSION_NAMES = namesOf(DIMENSIONS);
const GRANULARITY_NAMES = namesOf(GRANULARITIES);
const OPERATOR_NAMES = namesOf(OPERATORS);
const ORDER_FIELDS = [...METRIC_NAMES, ...DIMENSION_NAMES, 'date'];
const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 1_000;
const MAX_LIMIT = 1_000;

const LIMIT = {
  optional: true,
  minimum: 1,
  maximum: MAX_LIMIT,
  rangeMessage: `must be from 1 to ${MAX_LIMIT}`,
} as const;

const isScalar = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' && isStorableText(value) && value.length <= MAX_VALUE_LENGTH);

function isFilterValue(value: unknown, filter: Partial<AnalyticsFilterDto>): boolean {
  const { operator } = filter;
  if (operator === undefined || OPERATORS[operator] !== 'array') return isScalar(value);
  return Array.isArray(value) && value.length > 0 && value.length <= MAX_VALUES && value.every(isScalar);
}

export class AnalyticsFilterDto {
  @EnumField(DIMENSION_NAMES, { example: 'model' })
  field: DimensionName;

  @EnumField(OPERATOR_NAMES, {
    example: 'eq',
    description: '`neq` and `not_in` also match rows without a value.',
  })
  operator: OperatorName;

  @CustomField(
    {
      oneOf: [
        { type: 'string' },
        { type: 'number' },
        {
          type: 'array',
          items: { oneOf: [{ type: 'string' }, { type: 'number' }] },
          minItems: 1,
          maxItems: MAX_VALUES,
        },
      ],
    },
    {
      rules: [
        Rule(
          'isFilterValue',
          isFilterValue,
          `must be a string or a number, and for in and not_in a list of 1 to ${MAX_VALUES} of them`,
        ),
      ],
      example: 'openai/text-embedding-3-small',
      description: 'A list for `in` and `not_in`. API keys are named by hash, workspaces by id.',
    },
  )
  value: string | number | (string | number)[];
}

class AnalyticsOrderDto {
  @EnumField(ORDER_FIELDS, {
    description: 'A requested metric or dimension, request_count, or date with a granularity.',
  })
  field: MetricName | DimensionName | 'date';

  @EnumField(['asc', 'desc'])
  direction: 'asc' | 'desc';
}

class TimeRangeDto {
  @TimeField({ example: '2026-11-01T00:00:00Z' })
  start: string;

  @TimeField({ example: '2026-11-08T00:00:00Z', description: 'Exclusive.' })
  end: string;
}

export class AnalyticsQueryDto {
  @ListField(String, {
    values: METRIC_NAMES,
    minItems: 1,
    hiddenMaxItems: METRIC_NAMES.length,
    unique: true,
    example: ['request_count', 'total_usage'],
  })
  metrics: MetricName[];

  @ListField(String, {
    optional: true,
    values: DIMENSION_NAMES,
    maxItems: 4,
    unique: true,
    example: ['model'],
  })
  dimensions: DimensionName[] = [];

  @ObjectListField(AnalyticsFilterDto, {
    optional: true,
    maxItems: 20,
    elementMessage: 'must hold objects',
    description: 'All filters must match.',
  })
  filters: AnalyticsFilterDto[] = [];

  @EnumField(GRANULARITY_NAMES, {
    optional: true,
    description: 'Groups rows by UTC minute (of the last hour only), hour, day, week (from Monday) or month.',
  })
  granularity?: Granularity;

  @ObjectField(TimeRangeDto, {
    optional: true,
    description: 'At most 90 days. Default: the last 30 days, by minute the last hour.',
  })
  time_range?: TimeRangeDto;

  @ObjectField(AnalyticsOrderDto, {
    optional: true,
    description: 'Default: by time with a granularity, else by the first metric, descending.',
  })
  order_by?: AnalyticsOrderDto;

  @IntegerField({ ...LIMIT, description: `Maximum number of rows. Default: ${MAX_LIMIT}.` })
  limit = MAX_LIMIT;

  @IntegerField({ ...LIMIT, description: 'Maximum number of rows of one combination of dimensions.' })
  group_limit?: number;
}
