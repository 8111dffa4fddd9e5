// The models that providers list: an extension of the contract (docs/contract.md#discovery).
import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ProviderModelsDto, toProviderModelsDto } from './dto/provider-models.dto.js';
import { ProviderModelsService } from './provider-models.service.js';

@ApiTags('Models')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('providers/:slug/models')
export class ProviderModelsController {
  constructor(private readonly models: ProviderModelsService) {}

  @Get()
  @NeedsRight('catalogue.read')
  @Operation({
    id: 'listProviderModels',
    summary: 'List the models that a provider offers',
    description:
      "The names that the provider listed for the operator's credential, with the facts that it states. A name enables nothing.",
    answer: dataOf(ProviderModelsDto),
    errors: [404],
  })
  async list(@Param('slug') slug: string): Promise<Data<ProviderModelsDto>> {
    return { data: toProviderModelsDto(await this.models.list(slug)) };
  }

  @Post()
  @NeedsRight('catalogue.change')
  @Operation({
    id: 'discoverProviderModels',
    summary: 'Ask a provider for its models now',
    description:
      'Responds 200 with `problem` when the provider fails; names of before stay. At most 10 requests a minute for each account, tests of ' +
      'providers included. Needs a management key of an account of OPERATOR_ACCOUNTS.',
    answer: dataOf(ProviderModelsDto),
    errors: [404, 409],
  })
  async ask(
    @CurrentManager() manager: Manager,
    @Param('slug') slug: string,
  ): Promise<Data<ProviderModelsDto>> {
    return { data: toProviderModelsDto(await this.models.ask(manager, slug)) };
  }
}
