// The route of an account's activity.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { AlsoCsv } from '../http/server/csv.js';
import { ActivityService } from './activity.service.js';
import {
  ActivityItemDto,
  ActivityQueryDto,
  ActivityResponseDto,
  toActivityItemDto,
} from './dto/activity.dto.js';

@ApiTags('Activity')
@ApiBearerAuth()
@Controller('activity')
export class ActivityController {
  constructor(private readonly activity: ActivityService) {}

  @Get()
  @AlsoCsv(ActivityItemDto, () => null)
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Get activity',
    description: 'Usage of the last 30 completed UTC days by day, model and endpoint.',
    operationId: 'getUserActivity',
  })
  @ApiOkResponse({ type: ActivityResponseDto })
  @ApiErrors(400, 401, 403, 404, 408, 500, 503)
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: ActivityQueryDto,
  ): Promise<ActivityResponseDto> {
    const rows = await this.activity.list(caller, query);
    return { data: rows.map(toActivityItemDto) };
  }
}
