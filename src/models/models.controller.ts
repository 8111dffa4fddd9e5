// The routes of the catalogue.
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, Public } from '../auth/auth.decorators.js';
import type { CatalogueModel } from '../catalogue/catalogue-model.js';
import type { Caller } from '../domain/keys/api-key.js';
import { EMBEDDING_PROVIDERS } from '../providers/index.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { InTrafficClass } from '../http/load-shedding/load-shedding.guard.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { ModelEndpointsResponseDto, toModelEndpointsDto } from './dto/model-endpoints.dto.js';
import { ModelCountResponseDto } from './dto/model-count.dto.js';
import { ModelListDto, toListPage, toModelListDto } from './dto/model-list.dto.js';
import type { ListPage } from './dto/model-list.dto.js';
import { ModelResponseDto, toModelDto } from './dto/model.dto.js';
import { EmbeddingModelsQueryDto, ModelCountQueryDto, ModelsQueryDto } from './dto/models-query.dto.js';
import { ProviderListDto, toProviderDto } from './dto/provider.dto.js';
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
    description: 'Needs no credential. Without offset and limit, the whole list.',
    operationId: 'listEmbeddingsModels',
  })
  @ApiOkResponse({ type: ModelListDto })
  @ApiErrors(400, 500)
  list(@Query() query: EmbeddingModelsQueryDto): ModelListDto {
    return this.toList(this.models.list(), query, 'embeddings/models');
  }

  @Get('models')
  @ConditionalGet()
  @Public()
  @InTrafficClass('public')
  @ApiOperation({
    summary: 'List the models',
    description:
      'Needs no credential. This service has embeddings only: without output_modalities the list is empty.',
    operationId: 'getModels',
  })
  @ApiOkResponse({ type: ModelListDto })
  @ApiErrors(400, 500)
  listAll(@Query() query: ModelsQueryDto): ModelListDto {
    const models = ModelCountQueryDto.includesEmbeddings(query) ? this.models.list() : [];
    return this.toPart(models, query, 'models');
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
    return { data: { count: ModelCountQueryDto.includesEmbeddings(query) ? this.models.list().length : 0 } };
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
    const models = ModelCountQueryDto.includesEmbeddings(query) ? await this.models.listFor(caller) : [];
    return this.toPart(models, query, 'models/user');
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

  private toPart(models: readonly CatalogueModel[], query: ModelsQueryDto, path: string): ModelListDto {
    return this.toList(models, query, `${path}?output_modalities=${query.output_modalities}`);
  }

  private toList(models: readonly CatalogueModel[], page: Partial<ListPage>, path: string): ModelListDto {
    const day = this.models.today();
    return toModelListDto(
      models.map((model) => toModelDto(model, day)),
      toListPage(page),
      path,
    );
  }
}
