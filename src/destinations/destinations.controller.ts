// The routes of observability destinations.
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/api-key.js';
import { ApiErrors } from '../http/api-errors.js';
import { DestinationsService } from './destinations.service.js';
import { CreateDestinationDto } from './dto/create-destination.dto.js';
import { DestinationResponseDto, toDestinationDto } from './dto/destination.dto.js';

@ApiTags('Observability destinations')
@ApiBearerAuth()
@Controller('observability/destinations')
export class DestinationsController {
  constructor(private readonly destinations: DestinationsService) {}

  @Post()
  @HttpCode(201)
  @ManagementOnly({ refusal: 403 })
  @ApiOperation({ summary: 'Create a destination', operationId: 'createObservabilityDestination' })
  @ApiCreatedResponse({ type: DestinationResponseDto })
  @ApiErrors(400, 401, 403, 409, 413, 500, 503)
  async create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateDestinationDto,
  ): Promise<DestinationResponseDto> {
    return { data: toDestinationDto(await this.destinations.create(caller, body)) };
  }
}
