// GET /key, and its former path: any key reads its own record.
import { Controller, Get } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { CurrentKeyResponseDto, toCurrentKeyDto } from './dto/current-key.dto.js';
import { KeysService } from './keys.service.js';

@ApiTags('API keys')
@ApiBearerAuth()
@Controller()
export class CurrentKeyController {
  constructor(private readonly keys: KeysService) {}

  @Get('key')
  @ApiOperation({
    summary: 'Get the current API key',
    description: 'Limits and spend of the key that authenticates the request.',
    operationId: 'getCurrentKey',
  })
  @ApiOkResponse({ type: CurrentKeyResponseDto })
  @ApiErrors(401, 500, 503)
  async get(@CurrentCaller() caller: Caller): Promise<CurrentKeyResponseDto> {
    return { data: toCurrentKeyDto(await this.keys.get(caller, caller.key.hash)) };
  }

  @Get('auth/key')
  @ApiOperation({
    summary: 'Get the current API key (former path)',
    description: 'Answers like `GET /key`, for clients that use the former path.',
    operationId: 'getCurrentKeyByFormerPath',
    deprecated: true,
  })
  @ApiOkResponse({ type: CurrentKeyResponseDto })
  @ApiErrors(401, 500, 503)
  async getByFormerPath(@CurrentCaller() caller: Caller): Promise<CurrentKeyResponseDto> {
    return this.get(caller);
  }
}
