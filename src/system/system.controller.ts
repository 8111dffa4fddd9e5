// The state of the service: an extension of the contract (docs/contract.md#system).
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { SystemResponseDto, toSystemDto } from './dto/system.dto.js';
import { SystemService } from './system.service.js';

@ApiTags('System')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('system')
export class SystemController {
  constructor(private readonly system: SystemService) {}

  @Get()
  @ApiOperation({
    summary: 'Get the state of the service',
    description:
      'Version, migrations, processes, deliveries, cache and encryption keys. Backlog and key use are those of the account.',
    operationId: 'getSystem',
  })
  @ApiOkResponse({ type: SystemResponseDto })
  @ApiErrors(401, 403, 429, 500, 503)
  async get(@CurrentCaller() caller: Caller): Promise<SystemResponseDto> {
    return { data: toSystemDto(await this.system.describe(caller)) };
  }
}
