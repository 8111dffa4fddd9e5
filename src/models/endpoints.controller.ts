// The health of all endpoints, and the test of a provider: extensions of the contract (docs/contract.md#models).
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf, listOf, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { EndpointsQueryDto, EndpointDto, toEndpointDto } from './dto/endpoints.dto.js';
import { ProviderHealthDto, toProviderHealthDto } from './dto/provider-health.dto.js';
import { ProviderTestDto, TestProviderDto, toProviderTestDto } from './dto/provider.dto.js';
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
  @NeedsRight('catalogue.read')
  @Operation({
    id: 'listAllEndpoints',
    summary: 'List all endpoints with their health',
    description:
      "The operator's endpoints of all models: state, latency, last failure and price. Figures are those of the process that " +
      'answers; other replicas and workers have their own.',
    answer: pageOf(EndpointDto, {
      name: 'EndpointsResponseDto',
      description: 'In the order of the catalogue.',
    }),
    errors: [404],
  })
  listEndpoints(@Query() query: EndpointsQueryDto): Page<EndpointDto> {
    const { items, total } = this.models.listEndpoints(query);
    const day = this.models.today();
    return { data: items.map((endpoint) => toEndpointDto(endpoint, day)), total_count: total };
  }

  @Get('providers/health')
  @NeedsRight('catalogue.read')
  @Operation({
    id: 'listProviderHealth',
    summary: 'List the providers with their health',
    description:
      "Every provider of this version, summed up over the operator's endpoints. Figures are those of the process that answers.",
    answer: listOf(ProviderHealthDto),
  })
  listProviders(): Data<ProviderHealthDto[]> {
    return { data: this.models.listProviders().map(toProviderHealthDto) };
  }

  @Post('providers/:slug/test')
  @NeedsRight('providers.test')
  @Operation({
    id: 'testProvider',
    summary: 'Test a provider',
    description:
      'Embeds one short text with the cheapest model of the provider. Responds 200 with `ok: false` when the provider fails. ' +
      'The test is charged to no key and recorded as no generation; `cost` is what the provider charges the owner of the ' +
      'credential. At most 10 tests a minute for each account.',
    answer: dataOf(ProviderTestDto),
    errors: [409],
  })
  async test(
    @CurrentManager() manager: Manager,
    @Param('slug') slug: string,
    @Body() body: TestProviderDto,
  ): Promise<Data<ProviderTestDto>> {
    return { data: toProviderTestDto(await this.tests.test(manager, slug, body)) };
  }
}
