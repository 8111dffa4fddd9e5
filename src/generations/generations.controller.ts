// The routes of generations.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { CurrentCaller } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { embeddingProviderName } from '../providers/index.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { GenerationContentResponseDto, toGenerationContentDto } from './dto/generation-content.dto.js';
import { GenerationResponseDto, toGenerationDto } from './dto/generation.dto.js';
import { GenerationsService } from './generations.service.js';

const OWN_CALLS =
  'A management key reads all calls of its account, an inference key its own. Other calls return 404.';

const GenerationIdQuery = (): MethodDecorator =>
  ApiQuery({
    name: 'id',
    type: String,
    description: 'The x-generation-id of a response, the id in its body, or the UUID in both.',
  });

@ApiTags('Generations')
@ApiBearerAuth()
@Controller('generation')
export class GenerationsController {
  constructor(private readonly generations: GenerationsService) {}

  @Get()
  @ApiOperation({
    summary: 'Get a generation',
    description: `The record of one call: model, provider, tokens, cost and attempts. ${OWN_CALLS}`,
    operationId: 'getGeneration',
  })
  @GenerationIdQuery()
  @ApiOkResponse({ type: GenerationResponseDto })
  @ApiErrors(400, 401, 404, 429, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Query('id') id: unknown): Promise<GenerationResponseDto> {
    return { data: toGenerationDto(await this.generations.get(caller, id), embeddingProviderName) };
  }

  @Get('content')
  @ApiOperation({
    summary: 'Get the content of a generation',
    description:
      'The inputs of one call, or the messages and the first answer of a chat. The service stores them only for destinations ' +
      'that forward them, until delivery and for at most one day; longer where the operator lets the history keep them. ' +
      OWN_CALLS,
    operationId: 'listGenerationContent',
  })
  @GenerationIdQuery()
  @ApiOkResponse({ type: GenerationContentResponseDto })
  @ApiErrors(400, 401, 404, 429, 500, 503)
  async getContent(
    @CurrentCaller() caller: Caller,
    @Query('id') id: unknown,
  ): Promise<GenerationContentResponseDto> {
    const { generation, content } = await this.generations.getContent(caller, id);
    return { data: toGenerationContentDto(generation, content, embeddingProviderName) };
  }
}
