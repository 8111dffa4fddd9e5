// What analytics answer on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';
import {
  DIMENSIONS,
  GRANULARITIES,
  METRICS,
  namesOf,
  OPERATORS,
} from '../../domain/generations/analytics.js';
import type { AnalyticsRow } from '../../domain/generations/analytics.js';

class NamedDto {
  @ApiProperty({ example: 'model' })
  name: string;

  @ApiProperty({ example: 'Model' })
  display_label: string;
}

class MetricDto extends NamedDto {
  @ApiProperty({ enum: ['number', 'currency', 'percent', 'latency'] })
  display_format: string;

  @ApiProperty({ description: 'True: it cannot be summed up over rows.' })
  is_rate: boolean;
}

class OperatorDto {
  @ApiProperty({ example: 'eq' })
  name: string;

  @ApiProperty({ enum: ['scalar', 'array'] })
  value_type: string;
}

class AnalyticsMetaDto {
  @ApiProperty({ type: [MetricDto] })
  metrics: MetricDto[];

  @ApiProperty({ type: [NamedDto] })
  dimensions: NamedDto[];

  @ApiProperty({ type: [NamedDto] })
  granularities: NamedDto[];

  @ApiProperty({ type: [OperatorDto] })
  operators: OperatorDto[];
}

export class AnalyticsMetaResponseDto {
  @ApiProperty()
  data: AnalyticsMetaDto;
}

class AnalyticsMetadataDto {
  @ApiProperty({ type: 'integer' })
  row_count: number;

  @ApiProperty({ description: 'Whether there are more rows than the limit.' })
  truncated: boolean;

  @ApiProperty()
  query_time_ms: number;
}

class AnalyticsResultDto {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description:
      'A row has `date` (with a granularity), the dimensions and the metrics that were asked for. Shares are of 1, ' +
      'latencies milliseconds, amounts USD.',
    example: [{ date: '2026-11-17T00:00:00Z', model: 'openai/text-embedding-3-small', request_count: 3 }],
  })
  data: AnalyticsRow[];

  @ApiProperty()
  metadata: AnalyticsMetadataDto;

  @ApiProperty({ type: [String], description: 'Values of filters that name nothing of the account.' })
  warnings: string[];
}

export class AnalyticsResponseDto {
  @ApiProperty()
  data: AnalyticsResultDto;
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
