// The routes of the catalogue.
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Public } from '../auth/auth.decorators.js';
import { ApiErrors } from '../http/api-errors.js';
import { ModelEndpointsResponseDto, toModelEndpointsDto } from './dto/model-endpoints.dto.js';
import { ModelListDto, readListPart, toModelListDto } from './dto/model-list.dto.js';
import { toModelDto } from './dto/model.dto.js';
import { ModelsService } from './models.service.js';

@ApiTags('Models')
@Controller()
export class ModelsController {
  constructor(private readonly models: ModelsService) {}

  @Get('embeddings/models')
  @Public()
  @ApiOperation({
    summary: 'List the embedding models',
    description: 'Needs no credential. Without offset and limit the whole list.',
    operationId: 'listEmbeddingsModels',
  })
  @ApiQuery({ name: 'offset', required: false, schema: { type: 'integer', minimum: 0, default: 0 } })
  @ApiQuery({
    name: 'limit',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 500 },
  })
  @ApiOkResponse({ type: ModelListDto })
  @ApiErrors(400, 500)
  list(@Query('offset') offset: unknown, @Query('limit') limit: unknown): ModelListDto {
    const part = readListPart(offset, limit);
    const day = this.models.today();
    return toModelListDto(
      this.models.list().map((model) => toModelDto(model, day)),
      part,
    );
  }

  @Get('models/:author/:slug/endpoints')
  @ApiBearerAuth()
  @ApiOperation({
    summary: 'List the endpoints of a model with their health',
    operationId: 'listEndpoints',
  })
  @ApiOkResponse({ type: ModelEndpointsResponseDto })
  @ApiErrors(401, 404, 500, 503)
  listEndpoints(@Param('author') author: string, @Param('slug') slug: string): ModelEndpointsResponseDto {
    const { model, endpoints } = this.models.report(`${author}/${slug}`);
    return { data: toModelEndpointsDto(model, endpoints, this.models.today()) };
  }
}
