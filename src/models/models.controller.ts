// The routes of the catalogue.
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  CurrentManager,
  NeedsRight,
  Public,
  SeesMore,
  ShowsMoreToManagement,
} from '../auth/auth.decorators.js';
import type { Request } from 'express';
import { callerOf } from '../auth/caller.js';
import type { Manager } from '../domain/people/manager.js';
import { PROVIDERS } from '../providers/index.js';
import { dataOf, listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { ConditionalGet, PreparedBody } from '../http/server/conditional-get.js';
import { ModelEndpointsDto, toModelEndpointsDto } from './dto/model-endpoints.dto.js';
import { ModelCountDto, ModelListDto, toListPage, toModelListDto } from './dto/model-list.dto.js';
import { ModelDto, RetrievedModelDto, toModelDto, toRetrievedModelDto } from './dto/model.dto.js';
import {
  EmbeddingModelsQueryDto,
  ModelCountQueryDto,
  ModelsQueryDto,
  UserModelsQueryDto,
} from './dto/models-query.dto.js';
import { ProviderDto, toProviderDto } from './dto/provider.dto.js';
import type { ListedModel } from './listed-model.js';
import { ModelsService } from './models.service.js';
import { PreparedList } from './prepared-list.js';

@ApiTags('Models')
@Controller()
export class ModelsController {
  private readonly whole = new PreparedList();

  constructor(private readonly models: ModelsService) {}

  @Get('embeddings/models')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'listEmbeddingsModels',
    summary: 'List the embedding models',
    description:
      'The embedding models that can be called, as GET /models lists them. Needs no credential. Without offset and limit, the ' +
      'whole list. Unknown query parameters are ignored.',
    answer: ModelListDto,
  })
  list(@Query() query: EmbeddingModelsQueryDto): ModelListDto {
    return this.toList(this.models.listEmbeddings(query), query, 'embeddings/models');
  }

  @Get('models')
  @ConditionalGet()
  @Public()
  @ShowsMoreToManagement(({ query }) => query['configured'] === 'false')
  @InTrafficClass('public')
  @Operation({
    id: 'getModels',
    summary: 'List the models',
    description:
      'The chat, embedding and rerank models with a configured provider; `configured=false` adds the rest of the catalogue. A filter by several ' +
      'parameters or input modalities keeps models that have all of them, any other filter those with one of its ' +
      'values. Needs no credential; a management key gets the models that providers list and the catalogue does not have as well, with ' +
      '`configured=false`. Without offset and limit, the whole list. Unknown query parameters are ignored.',
    answer: ModelListDto,
  })
  listAll(@Query() query: ModelsQueryDto, @SeesMore() seesMore: boolean): ModelListDto | PreparedBody {
    const makeList = (): ModelListDto => this.toList(this.models.list(query, seesMore), query, 'models');
    return isUnfiltered(query) ? this.whole.get(this.models.state(), makeList) : makeList();
  }

  @Get('models/count')
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'listModelsCount',
    summary: 'Count the models',
    description: 'The length of the list that GET /models returns for the same query. Needs no credential.',
    answer: dataOf(ModelCountDto),
  })
  count(@Query() query: ModelCountQueryDto): Data<ModelCountDto> {
    return { data: { count: this.models.list(query).length } };
  }

  @Get('models/user')
  @ConditionalGet()
  @ApiBearerAuth()
  @NeedsRight('account.read')
  @Operation({
    id: 'listModelsUser',
    summary: 'List the models that calls of this key can reach',
    description:
      "By the service's own credentials, or by provider credentials of the key's workspace, as far as guardrails leave them. Its presets follow, as `@preset/slug`. A person gets those that his keys in a workspace can reach.",
    answer: ModelListDto,
  })
  async listForUser(
    @Req() request: Request,
    @CurrentManager() manager: Manager,
    @Query() query: UserModelsQueryDto,
  ): Promise<ModelListDto> {
    const models =
      manager.person === null
        ? await this.models.listFor(callerOf(request), query)
        : await this.models.listForPerson(manager, query.workspace_id, query);
    return this.toList(models, query, 'models/user');
  }

  @Get('model/:author/:slug')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'getModel',
    summary: 'Get one model',
    description: 'The record of one model, as the lists return it. Needs no credential.',
    answer: dataOf(ModelDto),
  })
  get(@Param('author') author: string, @Param('slug') slug: string): Data<ModelDto> {
    return { data: toModelDto(this.models.get(`${author}/${slug}`), this.models.today()) };
  }

  @Get('models/:author/:slug')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'getModelBySlug',
    summary: 'Get one model by author and slug',
    description: "The record of one model, and the members of OpenAI's model object. Needs no credential.",
    answer: RetrievedModelDto,
  })
  getBySlug(@Param('author') author: string, @Param('slug') slug: string): RetrievedModelDto {
    return this.getByName(`${author}/${slug}`);
  }

  @Get('models/:name')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'getModelByName',
    summary: 'Get one model by name',
    description:
      'For clients that send an id as one encoded part of the path: `openai%2Ftext-embedding-3-small`. Bare names work as ' +
      "well. Answers the record, and the members of OpenAI's model object. Needs no credential.",
    answer: RetrievedModelDto,
  })
  getByName(@Param('name') name: string): RetrievedModelDto {
    return toRetrievedModelDto(this.models.get(name), this.models.today());
  }

  @Get('providers')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @Operation({
    id: 'listProviders',
    summary: 'List the providers',
    description: 'Every provider of this version, configured or not. Needs no credential.',
    answer: listOf(ProviderDto),
  })
  listProviders(): Data<ProviderDto[]> {
    return { data: PROVIDERS.map(toProviderDto) };
  }

  @Get('models/:author/:slug/endpoints')
  @ApiBearerAuth()
  @NeedsRight('account.read')
  @Operation({
    id: 'listEndpoints',
    summary: 'List the endpoints of a model with their health',
    description:
      'Prices, limits, latency, throughput and state of every endpoint, as this process measured them.',
    answer: dataOf(ModelEndpointsDto),
  })
  listEndpoints(@Param('author') author: string, @Param('slug') slug: string): Data<ModelEndpointsDto> {
    const { model, endpoints } = this.models.report(`${author}/${slug}`);
    return { data: toModelEndpointsDto(model, endpoints, this.models.today()) };
  }

  private toList(
    models: readonly ListedModel[],
    { offset, limit, ...filters }: EmbeddingModelsQueryDto,
    path: string,
  ): ModelListDto {
    const day = this.models.today();
    return toModelListDto(
      models.map((model) => toModelDto(model, day)),
      toListPage({ offset, limit }),
      path,
      filters,
    );
  }
}

function isUnfiltered({ configured, ...filters }: ModelsQueryDto): boolean {
  return configured && Object.values(filters).every((value) => value === undefined);
}
