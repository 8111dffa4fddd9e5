// The route of generations.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RateLimited } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/api-key.js';
import { findEmbeddingProvider } from '../embedding-providers/index.js';
import { ApiErrors } from '../http/api-errors.js';
import { GenerationResponseDto, toGenerationDto } from './dto/generation.dto.js';
import { GenerationsService } from './generations.service.js';

@ApiTags('Generations')
@ApiBearerAuth()
@Controller('generation')
export class GenerationsController {
  constructor(private readonly generations: GenerationsService) {}

  @Get()
  @RateLimited()
  @ApiOperation({ summary: 'Get the record of one call', operationId: 'getGeneration' })
  @ApiQuery({
    name: 'id',
    type: String,
    description: 'The x-generation-id of an answer, the id in its body, or the UUID in both.',
  })
  @ApiOkResponse({ type: GenerationResponseDto })
  @ApiErrors(400, 401, 404, 429, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Query('id') id: unknown): Promise<GenerationResponseDto> {
    return { data: toGenerationDto(await this.generations.get(caller, id), providerName) };
  }
}

function providerName(slug: string): string {
  return findEmbeddingProvider(slug)?.name ?? slug;
}
