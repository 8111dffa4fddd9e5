// The routes of generations.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiQuery, ApiTags } from '@nestjs/swagger';
import { CurrentManager, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { providerName } from '../providers/index.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { GenerationContentDto, toGenerationContentDto } from './dto/generation-content.dto.js';
import { GenerationDto, toGenerationDto } from './dto/generation.dto.js';
import { GenerationsService } from './generations.service.js';

const OWN_CALLS =
  'A management key reads all calls of its account, an inference key its own. Other calls return 404.';

const GenerationIdQuery = (): MethodDecorator =>
  ApiQuery({
    name: 'id',
    type: String,
    description:
      'The x-generation-id of a response, the id in its body (of a message too), or the UUID in both.',
  });

@ApiTags('Generations')
@ApiBearerAuth()
@Controller('generation')
export class GenerationsController {
  constructor(private readonly generations: GenerationsService) {}

  @Get()
  @NeedsRight('calls.read')
  @Operation({
    id: 'getGeneration',
    summary: 'Get a generation',
    description: `The record of one call: model, provider, tokens, cost and attempts. ${OWN_CALLS}`,
    answer: dataOf(GenerationDto),
    errors: [404],
  })
  @GenerationIdQuery()
  async get(@CurrentManager() manager: Manager, @Query('id') id: unknown): Promise<Data<GenerationDto>> {
    return { data: toGenerationDto(await this.generations.getWithKey(manager, id), providerName) };
  }

  @Get('content')
  @NeedsRight('calls.read_content')
  @Operation({
    id: 'listGenerationContent',
    summary: 'Get the content of a generation',
    description:
      'The inputs of one call, or the messages and the first answer of a chat. The service stores them only for destinations ' +
      'that forward them, until delivery and for at most one day; longer where the operator lets the history keep them. ' +
      OWN_CALLS,
    answer: dataOf(GenerationContentDto),
    errors: [404],
  })
  @GenerationIdQuery()
  async getContent(
    @CurrentManager() manager: Manager,
    @Query('id') id: unknown,
  ): Promise<Data<GenerationContentDto>> {
    const { generation, content } = await this.generations.getContent(manager, id);
    return { data: toGenerationContentDto(generation, content, providerName) };
  }
}
