// The routes of analytics.
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly, ReadsOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { AnalyticsService } from './analytics.service.js';
import { AnalyticsQueryDto } from './dto/analytics-query.dto.js';
import { ANALYTICS_META, AnalyticsMetaResponseDto, AnalyticsResponseDto } from './dto/analytics.dto.js';

@ApiTags('Analytics')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('analytics')
export class AnalyticsController {
  constructor(private readonly analytics: AnalyticsService) {}

  @Get('meta')
  @ApiOperation({
    summary: 'List analytics metrics and dimensions',
    description: 'The metrics, dimensions, granularities and filter operators that a query accepts.',
    operationId: 'getAnalyticsMeta',
  })
  @ApiOkResponse({ type: AnalyticsMetaResponseDto })
  @ApiErrors(401, 403, 500, 503)
  meta(): AnalyticsMetaResponseDto {
    return { data: ANALYTICS_META };
  }

  @Post('query')
  @HttpCode(200)
  @ReadsOnly()
  @ApiOperation({
    summary: 'Query analytics',
    description:
      'Aggregates the calls of the account. Responds 408 when the query takes longer than 5 seconds.',
    operationId: 'queryAnalytics',
  })
  @ApiOkResponse({ type: AnalyticsResponseDto })
  @ApiErrors(400, 401, 403, 408, 413, 500, 503)
  async query(
    @CurrentCaller() caller: Caller,
    @Body() body: AnalyticsQueryDto,
  ): Promise<AnalyticsResponseDto> {
    const { rows, isTruncated, milliseconds, warnings } = await this.analytics.query(caller, body);
    return {
      data: {
        data: [...rows],
        metadata: { row_count: rows.length, truncated: isTruncated, query_time_ms: milliseconds },
        warnings: [...warnings],
      },
    };
  }
}
