// The health of all endpoints, and the test of a provider: extensions of the contract (docs/contract.md#models).
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { EndpointsQueryDto, EndpointsResponseDto, toEndpointDto } from './dto/endpoints.dto.js';
import { ProviderTestResponseDto, TestProviderDto, toProviderTestDto } from './dto/provider-test.dto.js';
import { ModelsService } from './models.service.js';
import { ProviderTestService } from './provider-test.service.js';

@ApiTags('Models')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller()
export class EndpointsController {
  constructor(
    private readonly models: ModelsService,
    private readonly tests: ProviderTestService,
  ) {}

  @Get('endpoints')
  @ApiOperation({
    summary: 'List all endpoints with their health',
    description:
      "The operator's endpoints of all models: state, latency, last failure and price. Figures are those of the process that " +
      'answers; other replicas and workers have their own.',
    operationId: 'listAllEndpoints',
  })
  @ApiOkResponse({ type: EndpointsResponseDto })
  @ApiErrors(400, 401, 403, 404, 429, 500, 503)
  listEndpoints(@Query() query: EndpointsQueryDto): EndpointsResponseDto {
    const { items, total } = this.models.listEndpoints(query);
    const day = this.models.today();
    return { data: items.map((endpoint) => toEndpointDto(endpoint, day)), total_count: total };
  }

  @Post('providers/:slug/test')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Test a provider',
    description:
      'Embeds one short text with the cheapest model of the provider. Responds 200 with `ok: false` when the provider fails. ' +
      'The test is charged to no key and recorded as no generation; `cost` is what the provider charges the owner of the ' +
      'credential. At most 10 tests a minute for each account.',
    operationId: 'testProvider',
  })
  @ApiOkResponse({ type: ProviderTestResponseDto })
  @ApiErrors(400, 401, 403, 404, 409, 413, 429, 500, 503)
  async test(
    @CurrentCaller() caller: Caller,
    @Param('slug') slug: string,
    @Body() body: TestProviderDto,
  ): Promise<ProviderTestResponseDto> {
    return { data: toProviderTestDto(await this.tests.test(caller, slug, body)) };
  }
}
