// The list of generations: an extension of the contract (docs/contract.md#generations).
import { Controller, Get, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { writeCursor } from '../http/dto/list-position.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import {
  GenerationsQueryDto,
  GenerationsResponseDto,
  toListedGenerationDto,
} from './dto/generation-list.dto.js';
import { GenerationListService } from './generation-list.service.js';

@ApiTags('Generations')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('generations')
export class GenerationListController {
  constructor(private readonly generations: GenerationListService) {}

  @Get()
  @ApiOperation({
    summary: 'List generations',
    description:
      'The calls of a workspace, newest first, without their inputs. Calls that match several filters match all of them. A ' +
      'search for rare calls reads a bounded part of the log for each page: such a page may be short or empty, and ' +
      '`searched_until` states how far it has come.',
    operationId: 'listGenerations',
  })
  @ApiOkResponse({ type: GenerationsResponseDto })
  @ApiErrors(400, 401, 403, 404, 429, 500, 503)
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: GenerationsQueryDto,
  ): Promise<GenerationsResponseDto> {
    const { generations, keys, next, searchedUntil } = await this.generations.list(caller, query);
    return {
      data: generations.map((generation) => toListedGenerationDto(generation, keys.get(generation.apiKeyId))),
      next_cursor: next && writeCursor(next),
      searched_until: searchedUntil?.toISOString() ?? null,
    };
  }
}
