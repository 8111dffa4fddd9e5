// The route of an account's activity.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { AlsoCsv } from '../http/server/csv.js';
import { ActivityService } from './activity.service.js';
import { ActivityItemDto, ActivityQueryDto, toActivityItemDto } from './dto/activity.dto.js';

@ApiTags('Activity')
@ApiBearerAuth()
@Controller('activity')
export class ActivityController {
  constructor(private readonly activity: ActivityService) {}

  @Get()
  @AlsoCsv(ActivityItemDto, () => null)
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('calls.read')
  @Operation({
    id: 'getUserActivity',
    summary: 'Get activity',
    description: 'Usage of the last 30 completed UTC days by day, model and endpoint.',
    answer: listOf(ActivityItemDto, {
      name: 'ActivityResponseDto',
      description: 'The newest day first.',
    }),
    errors: [404, 408],
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: ActivityQueryDto,
  ): Promise<Data<ActivityItemDto[]>> {
    const rows = await this.activity.list(manager, query);
    return { data: rows.map(toActivityItemDto) };
  }
}
