// The routes of analytics.
import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight, ReadsOnly } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { AnalyticsService } from './analytics.service.js';
import { AnalyticsQueryDto } from './dto/analytics-query.dto.js';
import { ANALYTICS_META, AnalyticsMetaDto, AnalyticsResponseDto } from './dto/analytics.dto.js';

@ApiTags('Analytics')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@NeedsRight('calls.read')
@Controller('analytics')
export class AnalyticsController {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get('meta')
  @Operation({
    id: 'getAnalyticsMeta',
    summary: 'List analytics metrics and dimensions',
    description: 'The metrics, dimensions, granularities and filter operators that a query accepts.',
    answer: dataOf(AnalyticsMetaDto),
  })
  meta(): Data<AnalyticsMetaDto> {
    return { data: ANALYTICS_META };
  }

  @Post('query')
  @ReadsOnly()
  @Operation({
    id: 'queryAnalytics',
    summary: 'Query analytics',
    description:
      'Aggregates the calls of the account. Responds 408 when the query takes longer than 5 seconds.',
    answer: AnalyticsResponseDto,
    errors: [408],
  })
  async query(
    @CurrentManager() manager: Manager,
    @Body() body: AnalyticsQueryDto,
  ): Promise<AnalyticsResponseDto> {
    const { rows, isTruncated, milliseconds, warnings } = await this.analytics.query(manager, body);
    return {
      data: {
        data: [...rows],
        metadata: { row_count: rows.length, truncated: isTruncated, query_time_ms: milliseconds },
        warnings: [...warnings],
      },
    };
  }
}
