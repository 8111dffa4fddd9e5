// The routes of observability destinations.
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import type { Actor } from '../domain/audit.js';
import { dataOf, DeletedDto, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { DestinationsService } from './destinations.service.js';
import { CreateDestinationDto, UpdateDestinationDto } from './dto/destination-bodies.dto.js';
import { DestinationDto, DestinationsQueryDto, toDestinationDto } from './dto/destination.dto.js';

const ID = { name: 'id', format: 'uuid', description: 'The id of the destination.' } as const;

@ApiTags('Observability destinations')
@ApiBearerAuth()
@Controller('observability/destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  @Get()
  @ConditionalGet()
  @ManagementOnly()
  @NeedsRight('destinations.read')
  @Operation({
    id: 'listObservabilityDestinations',
    summary: 'List destinations',
    description: 'The destinations of a workspace, newest first.',
    answer: pageOf(DestinationDto, { name: 'DestinationsResponseDto', description: 'Newest first.' }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: DestinationsQueryDto,
  ): Promise<Page<DestinationDto>> {
    const { destinations, total } = await this.destinations.list(manager, query);
    return { data: destinations.map(toDestinationDto), total_count: total };
  }

  @Post()
  @ManagementOnly({ rejection: 403 })
  @NeedsRight('destinations.change')
  @Operation({
    id: 'createObservabilityDestination',
    summary: 'Create a destination',
    description: 'Starts to forward traces of later calls. Responds 409 beyond the destination limit.',
    status: 201,
    answer: dataOf(DestinationDto),
    errors: [409],
  })
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateDestinationDto,
  ): Promise<Data<DestinationDto>> {
    return { data: toDestinationDto(await this.destinations.create(actor, body)) };
  }

  @Get(':id')
  @ManagementOnly()
  @NeedsRight('destinations.read')
  @Operation({
    id: 'getObservabilityDestination',
    summary: 'Get a destination',
    description: 'The settings of a destination, with masked secrets.',
    answer: dataOf(DestinationDto),
  })
  @ApiParam(ID)
  async get(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<DestinationDto>> {
    return { data: toDestinationDto(await this.destinations.get(manager, id)) };
  }

  @Patch(':id')
  @ManagementOnly()
  @NeedsRight('destinations.change')
  @Operation({
    id: 'updateObservabilityDestination',
    summary: 'Update a destination',
    description:
      'Partial update: omitted members keep their value. Concurrent updates conflict; the loser receives 409.',
    answer: dataOf(DestinationDto),
    errors: [409],
  })
  @ApiParam(ID)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateDestinationDto,
  ): Promise<Data<DestinationDto>> {
    return { data: toDestinationDto(await this.destinations.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly()
  @NeedsRight('destinations.change')
  @Operation({
    id: 'deleteObservabilityDestination',
    summary: 'Delete a destination',
    description: 'Stops deliveries and discards the backlog.',
    answer: DeletedDto,
  })
  @ApiParam(ID)
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.destinations.delete(actor, id);
    return { deleted: true };
  }
}
