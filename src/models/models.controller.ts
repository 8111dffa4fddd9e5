// The routes of the catalogue.
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, Public } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { EMBEDDING_PROVIDERS } from '../providers/index.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { ModelEndpointsResponseDto, toModelEndpointsDto } from './dto/model-endpoints.dto.js';
import { ModelCountResponseDto } from './dto/model-count.dto.js';
import { ModelListDto, toListPage, toModelListDto } from './dto/model-list.dto.js';
import { ModelResponseDto, RetrievedModelDto, toModelDto, toRetrievedModelDto } from './dto/model.dto.js';
import { EmbeddingModelsQueryDto, ModelCountQueryDto, ModelsQueryDto } from './dto/models-query.dto.js';
import { ProviderListDto, toProviderDto } from './dto/provider.dto.js';
import type { ListedModel } from './listed-model.js';
import { ModelsService } from './models.service.js';

@ApiTags('Models')
@Controller()
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get('embeddings/models')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'List the embedding models',
    description:
      'The embedding models that can be called, as GET /models lists them. Needs no credential. Without offset and limit, the ' +
      'whole list. Unknown query parameters are ignored.',
    operationId: 'listEmbeddingsModels',
  })
  @ApiOkResponse({ type: ModelListDto })
  @ApiErrors(400, 500)
  list(@Query() query: EmbeddingModelsQueryDto): ModelListDto {
    return this.toList(this.models.listEmbeddings(query), query, 'embeddings/models');
  }

  @Get('models')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'List the models',
    description:
      'The chat and embedding models with a configured provider; `configured=false` adds the rest of the catalogue. A filter by several ' +
      'parameters or input modalities keeps models that have all of them, any other filter those with one of its ' +
      'values. Needs no credential. Without offset and limit, the whole list. Unknown query parameters are ignored.',
    operationId: 'getModels',
  })
  @ApiOkResponse({ type: ModelListDto })
  @ApiErrors(400, 500)
  listAll(@Query() query: ModelsQueryDto): ModelListDto {
    return this.toList(this.models.list(query), query, 'models');
  }

  @Get('models/count')
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'Count the models',
    description: 'The length of the list that GET /models returns for the same query. Needs no credential.',
    operationId: 'listModelsCount',
  })
  @ApiOkResponse({ type: ModelCountResponseDto })
  @ApiErrors(400, 500)
  count(@Query() query: ModelCountQueryDto): ModelCountResponseDto {
    return { data: { count: this.models.list(query).length } };
  }

  @Get('models/user')
  @ConditionalGet()
  @ApiBearerAuth()
  @ApiOperation({
    summary: 'List the models that calls of this key can reach',
    description: "By the service's own credentials, or by provider credentials of the key's workspace.",
    operationId: 'listModelsUser',
  })
  @ApiOkResponse({ type: ModelListDto })
  @ApiErrors(400, 401, 500, 503)
  async listForUser(@CurrentCaller() caller: Caller, @Query() query: ModelsQueryDto): Promise<ModelListDto> {
    return this.toList(await this.models.listFor(caller, query), query, 'models/user');
  }

  @Get('model/:author/:slug')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'Get one model',
    description: 'The record of one model, as the lists return it. Needs no credential.',
    operationId: 'getModel',
  })
  @ApiOkResponse({ type: ModelResponseDto })
  @ApiErrors(404, 500)
  get(@Param('author') author: string, @Param('slug') slug: string): ModelResponseDto {
    return { data: toModelDto(this.models.get(`${author}/${slug}`), this.models.today()) };
  }

  @Get('models/:author/:slug')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'Get one model by author and slug',
    description: "The record of one model, and the members of OpenAI's model object. Needs no credential.",
    operationId: 'getModelBySlug',
  })
  @ApiOkResponse({ type: RetrievedModelDto })
  @ApiErrors(404, 500)
  getBySlug(@Param('author') author: string, @Param('slug') slug: string): RetrievedModelDto {
    return this.getByName(`${author}/${slug}`);
  }

  @Get('models/:name')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'Get one model by name',
    description:
      'For clients that send an id as one encoded part of the path: `openai%2Ftext-embedding-3-small`. Bare names work as ' +
      "well. Answers the record, and the members of OpenAI's model object. Needs no credential.",
    operationId: 'getModelByName',
  })
  @ApiOkResponse({ type: RetrievedModelDto })
  @ApiErrors(400, 404, 500)
  getByName(@Param('name') name: string): RetrievedModelDto {
    return toRetrievedModelDto(this.models.get(name), this.models.today());
  }

  @Get('providers')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'List the providers',
    description: 'Every provider of this version, configured or not. Needs no credential.',
    operationId: 'listProviders',
  })
  @ApiOkResponse({ type: ProviderListDto })
  @ApiErrors(500)
  listProviders(): ProviderListDto {
    return { data: EMBEDDING_PROVIDERS.map(toProviderDto) };
  }

  @Get('models/:author/:slug/endpoints')
  @ApiBearerAuth()
  @ApiOperation({
    summary: 'List the endpoints of a model with their health',
    description:
      'Prices, limits, latency, throughput and state of every endpoint, as this process measured them.',
    operationId: 'listEndpoints',
  })
  @ApiOkResponse({ type: ModelEndpointsResponseDto })
  @ApiErrors(401, 404, 500, 503)
  listEndpoints(@Param('author') author: string, @Param('slug') slug: string): ModelEndpointsResponseDto {
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
