// GET /key, its former path, and GET /key/usage: any key reads its own record and usage.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentCaller } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { dataOf, listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { CurrentKeyDto, toCurrentKeyDto } from './dto/current-key.dto.js';
import { KeyUsageQueryDto, KeyUsageItemDto, toKeyUsageItemDto } from './dto/key-usage.dto.js';
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
  @Operation({
    id: 'getCurrentKey',
    summary: 'Get the current API key',
    description: 'Limits and spend of the key that authenticates the request.',
    answer: dataOf(CurrentKeyDto),
  })
  async get(@CurrentCaller() caller: Caller): Promise<Data<CurrentKeyDto>> {
    return { data: toCurrentKeyDto(await this.keys.getOwn(caller)) };
  }

  @Get('key/usage')
  @Operation({
    id: 'getCurrentKeyUsage',
    summary: 'Get the usage of the current API key',
    description:
      'Calls of the key that authenticates the request, by UTC day and model. It reads no other key.',
    answer: listOf(KeyUsageItemDto, {
      name: 'KeyUsageResponseDto',
      description: 'The newest day first.',
    }),
    errors: [408],
  })
  async getUsage(
    @CurrentCaller() caller: Caller,
    @Query() query: KeyUsageQueryDto,
  ): Promise<Data<KeyUsageItemDto[]>> {
    return { data: (await this.usage.list(caller, query.days)).map(toKeyUsageItemDto) };
  }

  @Get('auth/key')
  @Operation({
    id: 'getCurrentKeyByFormerPath',
    summary: 'Get the current API key (former path)',
    description: 'Answers like `GET /key`, for clients that use the former path.',
    deprecated: true,
    answer: dataOf(CurrentKeyDto),
  })
  async getByFormerPath(@CurrentCaller() caller: Caller): Promise<Data<CurrentKeyDto>> {
    return this.get(caller);
  }
}
