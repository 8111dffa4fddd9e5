// The list of refused calls: an extension of the contract (docs/contract.md#refusals).
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { RefusalDto, RefusalsQueryDto, toRefusalDto } from './dto/refusal.dto.js';
import { RefusalsService } from './refusals.service.js';

@ApiTags('Refusals')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@NeedsRight('calls.read')
@Controller('refusals')
export class RefusalsController {
  constructor(private readonly refusals: RefusalsService) {}

  @Get()
  @Operation({
    id: 'listRefusals',
    summary: 'List refused calls',
    description:
      'Of the newest 100 refused calls of the account those that match, newest first, some seconds after they were refused. Of ' +
      'a key that is refused more than ten times a second for one reason some are listed; `POST /analytics/query` counts all.',
    answer: listOf(RefusalDto, { name: 'RefusalsResponseDto', description: 'Newest first, at most 100.' }),
    errors: [404],
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: RefusalsQueryDto,
  ): Promise<Data<RefusalDto[]>> {
    const { refusals, keys } = await this.refusals.list(manager, query);
    return { data: refusals.map((refusal) => toRefusalDto(refusal, keys.get(refusal.apiKeyId))) };
  }
}
