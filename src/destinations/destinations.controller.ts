// The routes of observability destinations.
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentActor, CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import type { Actor } from '../domain/audit.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import { DeletedDto } from '../http/dto/deleted.dto.js';
import { DestinationsService } from './destinations.service.js';
import { CreateDestinationDto } from './dto/create-destination.dto.js';
import { DestinationResponseDto, DestinationsResponseDto, toDestinationDto } from './dto/destination.dto.js';
import { DestinationsQueryDto } from './dto/destinations-query.dto.js';
import { UpdateDestinationDto } from './dto/update-destination.dto.js';

const ID = { name: 'id', format: 'uuid', description: 'The id of the destination.' } as const;

@ApiTags('Observability destinations')
@ApiBearerAuth()
@Controller('observability/destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  @Get()
  @ConditionalGet()
  @ManagementOnly()
  @ApiOperation({
    summary: 'List destinations',
    description: 'The destinations of a workspace, newest first.',
    operationId: 'listObservabilityDestinations',
  })
  @ApiOkResponse({ type: DestinationsResponseDto })
  @ApiErrors(400, 401, 500, 503)
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: DestinationsQueryDto,
  ): Promise<DestinationsResponseDto> {
    const { destinations, total } = await this.destinations.list(caller, query);
    return { data: destinations.map(toDestinationDto), total_count: total };
  }

  @Post()
  @HttpCode(201)
  @ManagementOnly({ rejection: 403 })
  @ApiOperation({
    summary: 'Create a destination',
    description: 'Starts to forward traces of later calls. Responds 409 beyond the destination limit.',
    operationId: 'createObservabilityDestination',
  })
  @ApiCreatedResponse({ type: DestinationResponseDto })
  @ApiErrors(400, 401, 403, 409, 413, 500, 503)
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateDestinationDto,
  ): Promise<DestinationResponseDto> {
    return { data: toDestinationDto(await this.destinations.create(actor, body)) };
  }

  @Get(':id')
  @ManagementOnly()
  @ApiOperation({
    summary: 'Get a destination',
    description: 'The settings of a destination, with masked secrets.',
    operationId: 'getObservabilityDestination',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationResponseDto })
  @ApiErrors(401, 404, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DestinationResponseDto> {
    return { data: toDestinationDto(await this.destinations.get(caller, id)) };
  }

  @Patch(':id')
  @ManagementOnly()
  @ApiOperation({
    summary: 'Update a destination',
    description:
      'Partial update: omitted members keep their value. Concurrent updates conflict; the loser receives 409.',
    operationId: 'updateObservabilityDestination',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationResponseDto })
  @ApiErrors(400, 401, 404, 409, 413, 500, 503)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateDestinationDto,
  ): Promise<DestinationResponseDto> {
    return { data: toDestinationDto(await this.destinations.update(actor, id, body)) };
  }

  @Delete(':id')
  @ManagementOnly()
  @ApiOperation({
    summary: 'Delete a destination',
    description: 'Stops deliveries and discards the backlog.',
    operationId: 'deleteObservabilityDestination',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DeletedDto })
  @ApiErrors(401, 404, 500, 503)
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.destinations.delete(actor, id);
    return { deleted: true };
  }
}
