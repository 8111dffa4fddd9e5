// The list of generations and their deliveries: extensions of the contract (docs/contract.md#generations).
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { writeCursor } from '../http/dto/page-query.dto.js';
import { listOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { AlsoCsv, nextBy } from '../http/server/csv.js';
import {
  GenerationsQueryDto,
  ListedGenerationDto,
  GenerationsResponseDto,
  toListedGenerationDto,
} from './dto/generation-list.dto.js';
import { GenerationDeliveryDto, toGenerationDeliveryDto } from './dto/generation-deliveries.dto.js';
import { GenerationDeliveriesService } from './generation-deliveries.service.js';
import { GenerationListService } from './generation-list.service.js';

@ApiTags('Generations')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@NeedsRight('calls.read')
@Controller('generations')
export class GenerationListController {
  constructor(
    private readonly generations: GenerationListService,
    private readonly deliveries: GenerationDeliveriesService,
  ) {}

  @Get()
  @AlsoCsv(ListedGenerationDto, nextBy('next_cursor', 'cursor'))
  @Operation({
    id: 'listGenerations',
    summary: 'List generations',
    description:
      'The calls of a workspace, newest first, without their inputs. Calls that match several filters match all of them. A ' +
      'search for rare calls reads a bounded part of the log for each page: such a page may be short or empty, and ' +
      '`searched_until` states how far it has come.',
    answer: GenerationsResponseDto,
    errors: [404],
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: GenerationsQueryDto,
  ): Promise<GenerationsResponseDto> {
    const { generations, keys, next, searchedUntil } = await this.generations.list(manager, query);
    return {
      data: generations.map((generation) => toListedGenerationDto(generation, keys.get(generation.apiKeyId))),
      next_cursor: next && writeCursor(next),
      searched_until: searchedUntil?.toISOString() ?? null,
    };
  }

  @Get(':id/deliveries')
  @Operation({
    id: 'listGenerationDeliveries',
    summary: 'List the deliveries of a generation',
    description:
      'The outcome of one call at each destination of its workspace, from the positions of the destinations in the log and ' +
      'their current rules.',
    answer: listOf(GenerationDeliveryDto, {
      name: 'GenerationDeliveriesResponseDto',
      description: 'The destinations of the workspace, newest first.',
    }),
  })
  async listDeliveries(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
  ): Promise<Data<GenerationDeliveryDto[]>> {
    return { data: (await this.deliveries.list(manager, id)).map(toGenerationDeliveryDto) };
  }
}
