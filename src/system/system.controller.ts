// The state of the service: an extension of the contract (docs/contract.md#system).
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { SystemDto, toSystemDto } from './dto/system.dto.js';
import { SystemService } from './system.service.js';

@ApiTags('System')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('system')
export class SystemController {
  constructor(private readonly system: SystemService) {}

  @Get()
  @NeedsRight('system.read')
  @Operation({
    id: 'getSystem',
    summary: 'Get the state of the service',
    description:
      'Version, migrations, processes, deliveries, cache and encryption keys. Backlog and key use are those of the account.',
    answer: dataOf(SystemDto),
  })
  async get(@CurrentManager() manager: Manager): Promise<Data<SystemDto>> {
    return { data: toSystemDto(await this.system.describe(manager)) };
  }
}
