// The body of POST /analytics/query. Source: contract section 6.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
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
import { IsUtcTime } from '../../http/fields/is-utc-time.js';
import { IfGiven } from '../../http/fields/optional-members.js';
import { isStorableText } from '../../domain/text/storable-text.js';

const METRIC_NAMES = namesOf(METRICS);
const DIMENSION_NAMES = namesOf(DIMENSIONS);
const GRANULARITY_NAMES = namesOf(GRANULARITIES);
const OPERATOR_NAMES = namesOf(OPERATORS);
const ORDER_FIELDS = [...METRIC_NAMES, ...DIMENSION_NAMES, 'date'];
const MAX_DIMENSIONS = 4;
const MAX_FILTERS = 20;
const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 1_000;
const MAX_LIMIT = 1_000;

const OneOf = (names: readonly string[]): PropertyDecorator =>
  IsIn(names, { message: `must be one of ${names.join(', ')}` });

const ListOf = (names: readonly string[], least: number, most: number): PropertyDecorator =>
  applyDecorators(
    IsArray({ message: 'must be an array' }),
    ArrayMinSize(least, { message: `must have at least ${least} element` }),
    ArrayMaxSize(most, { message: `must have at most ${most} elements` }),
    IsIn(names, { each: true, message: `must hold only ${names.join(', ')}` }),
    ArrayUnique({ message: 'must not repeat an element' }),
  );

const Limit = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, description }),
    IfGiven(),
    IsInt({ message: 'must be a whole number' }),
    Min(1, { message: `must be from 1 to ${MAX_LIMIT}` }),
    Max(MAX_LIMIT, { message: `must be from 1 to ${MAX_LIMIT}` }),
  );

const isScalar = (value: unknown): boolean =>
  typeof value === 'number' ||
  (typeof value === 'string' && isStorableText(value) && value.length <= MAX_VALUE_LENGTH);

export class AnalyticsFilterDto {
  @ApiProperty({ enum: DIMENSION_NAMES, example: 'model' })
  @OneOf(DIMENSION_NAMES)
  field: DimensionName;

  @ApiProperty({
    enum: OPERATOR_NAMES,
    example: 'eq',
    description: '`neq` and `not_in` take what has no value as well.',
  })
  @OneOf(OPERATOR_NAMES)
  operator: OperatorName;

  @ApiProperty({
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
    example: 'openai/text-embedding-3-small',
    description: 'A list for `in` and `not_in`. API keys are named by their hashes, workspaces by their ids.',
  })
  @ValidateBy({
    name: 'isFilterValue',
    validator: {
      validate: (value, options) => {
        const { operator } = (options?.object ?? {}) as Partial<AnalyticsFilterDto>;
        if (operator === undefined || OPERATORS[operator] !== 'array') return isScalar(value);
        return (
          Array.isArray(value) && value.length > 0 && value.length <= MAX_VALUES && value.every(isScalar)
        );
      },
      defaultMessage: () =>
        `must be a string or a number, and for in and not_in a list of 1 to ${MAX_VALUES} of them`,
    },
  })
  value: string | number | (string | number)[];
}

class AnalyticsOrderDto {
  @ApiProperty({
    enum: ORDER_FIELDS,
    description: 'A metric or dimension that is asked for, request_count, or date with a granularity.',
  })
  @OneOf(ORDER_FIELDS)
  field: MetricName | DimensionName | 'date';

  @ApiProperty({ enum: ['asc', 'desc'] })
  @OneOf(['asc', 'desc'])
  direction: 'asc' | 'desc';
}

class TimeRangeDto {
  @ApiProperty({ format: 'date-time', example: '2026-11-01T00:00:00Z' })
  @IsUtcTime()
  start: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-08T00:00:00Z', description: 'Exclusive.' })
  @IsUtcTime()
  end: string;
}

export class AnalyticsQueryDto {
  @ApiProperty({ type: [String], enum: METRIC_NAMES, minItems: 1, example: ['request_count', 'total_usage'] })
  @ListOf(METRIC_NAMES, 1, METRIC_NAMES.length)
  metrics: MetricName[];

  @ApiPropertyOptional({
    type: [String],
    enum: DIMENSION_NAMES,
    maxItems: MAX_DIMENSIONS,
    example: ['model'],
  })
  @IfGiven()
  @ListOf(DIMENSION_NAMES, 0, MAX_DIMENSIONS)
  dimensions: DimensionName[] = [];

  @ApiPropertyOptional({ type: [AnalyticsFilterDto], maxItems: MAX_FILTERS, description: 'All must match.' })
  @IfGiven()
  @ValidateNested({ each: true, message: 'must hold objects' })
  @Type(() => AnalyticsFilterDto)
  @ArrayMaxSize(MAX_FILTERS, { message: `must have at most ${MAX_FILTERS} elements` })
  @IsArray({ message: 'must be an array' })
  filters: AnalyticsFilterDto[] = [];

  @ApiPropertyOptional({
    enum: GRANULARITY_NAMES,
    description: 'Rows by UTC hour, day, week (Monday) or month.',
  })
  @IfGiven()
  @OneOf(GRANULARITY_NAMES)
  granularity?: Granularity;

  @ApiPropertyOptional({ description: 'At most 90 days. Absent: the last 30 days.' })
  @IfGiven()
  @ValidateNested({ message: 'must be an object' })
  @Type(() => TimeRangeDto)
  @IsObject({ message: 'must be an object' })
  time_range?: TimeRangeDto;

  @ApiPropertyOptional({ description: 'Absent: in the order of time, else the greatest first metric first.' })
  @IfGiven()
  @ValidateNested({ message: 'must be an object' })
  @Type(() => AnalyticsOrderDto)
  @IsObject({ message: 'must be an object' })
  order_by?: AnalyticsOrderDto;

  @Limit(`Rows at most; ${MAX_LIMIT} without it.`)
  limit = MAX_LIMIT;

  @Limit('Rows at most of one combination of dimensions.')
  group_limit?: number;
}
