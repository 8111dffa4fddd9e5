// The routes of API keys.
import { Controller, Get, Param } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly, RateLimited } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/api-key.js';
import { ApiErrors } from '../http/api-errors.js';
import { ApiKeyResponseDto, toApiKeyDto } from './dto/api-key.dto.js';
import { KeysService } from './keys.service.js';

@ApiTags('API keys')
@ApiBearerAuth()
@Controller('keys')
export class KeysController {
  constructor(private readonly keys: KeysService) {}

  @Get(':hash')
  @ManagementOnly()
  @RateLimited()
  @ApiOperation({ summary: 'Get one API key', operationId: 'getKey' })
  @ApiOkResponse({ type: ApiKeyResponseDto })
  @ApiErrors(401, 404, 429, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Param('hash') hash: string): Promise<ApiKeyResponseDto> {
    return { data: toApiKeyDto(await this.keys.get(caller, hash)) };
  }
}
