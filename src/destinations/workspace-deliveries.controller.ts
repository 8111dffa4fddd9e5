// Delivery operations that concern no single stored destination (docs/contract.md#delivery-operations).
import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import { ConnectionTestResponseDto, toConnectionTestDto } from '../http/dto/receiver.dto.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveriesListDto, toDeliveriesDto } from './dto/delivery.dto.js';
import { DestinationsQueryDto } from './dto/destinations-query.dto.js';
import { TestDestinationDto } from './dto/test-destination.dto.js';

@ApiTags('Deliveries')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('observability')
export class WorkspaceDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  @ApiOperation({
    summary: 'List the delivery status of all destinations',
    description: 'Status, counters, backlog and last error of the destinations of a workspace.',
    operationId: 'listDeliveries',
  })
  @ApiOkResponse({ type: DeliveriesListDto })
  @ApiErrors(400, 401, 403, 429, 500, 503)
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: DestinationsQueryDto,
  ): Promise<DeliveriesListDto> {
    const { deliveries, total } = await this.deliveries.list(caller, query);
    const data = deliveries.map(({ destination, state }) =>
      Object.assign(toDeliveriesDto(state, destination.enabled), { destination_id: destination.id }),
    );
    return { data, total_count: total };
  }

  @Post('destinations/test')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Test settings of a destination',
    description:
      'Sends a test request to the platform and stores nothing. ' +
      `At most ${MAX_TESTS_PER_MINUTE} tests a minute for each account; beyond, 429 with \`Retry-After\`.`,
    operationId: 'testDestinationSettings',
  })
  @ApiOkResponse({ type: ConnectionTestResponseDto })
  @ApiErrors(400, 401, 403, 404, 413, 429, 500, 503)
  async test(
    @CurrentCaller() caller: Caller,
    @Body() body: TestDestinationDto,
  ): Promise<ConnectionTestResponseDto> {
    return { data: toConnectionTestDto(await this.deliveries.testSettings(caller, body)) };
  }
}
