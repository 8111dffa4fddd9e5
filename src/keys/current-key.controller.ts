// GET /key, its former path, and GET /key/usage: any key reads its own record and usage.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { CurrentKeyResponseDto, toCurrentKeyDto } from './dto/current-key.dto.js';
import { KeyUsageQueryDto, KeyUsageResponseDto, toKeyUsageItemDto } from './dto/key-usage.dto.js';
import { KeyUsageService } from './key-usage.service.js';
import { KeysService } from './keys.service.js';

@ApiTags('API keys')
@ApiBearerAuth()
@Controller()
export class CurrentKeyController {
  constructor(
    private readonly keys: KeysService,
    private readonly usage: KeyUsageService,
  ) {}

  @Get('key')
  @ApiOperation({
    summary: 'Get the current API key',
    description: 'Limits and spend of the key that authenticates the request.',
    operationId: 'getCurrentKey',
  })
  @ApiOkResponse({ type: CurrentKeyResponseDto })
  @ApiErrors(401, 500, 503)
  async get(@CurrentCaller() caller: Caller): Promise<CurrentKeyResponseDto> {
    return { data: toCurrentKeyDto(await this.keys.getOwn(caller)) };
  }

  @Get('key/usage')
  @ApiOperation({
    summary: 'Get the usage of the current API key',
    description:
      'Calls of the key that authenticates the request, by UTC day and model. It reads no other key.',
    operationId: 'getCurrentKeyUsage',
  })
  @ApiOkResponse({ type: KeyUsageResponseDto })
  @ApiErrors(400, 401, 408, 429, 500, 503)
  async getUsage(
    @CurrentCaller() caller: Caller,
    @Query() query: KeyUsageQueryDto,
  ): Promise<KeyUsageResponseDto> {
    return { data: (await this.usage.list(caller, query.days)).map(toKeyUsageItemDto) };
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
