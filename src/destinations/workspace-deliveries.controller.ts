// Delivery operations that concern no single stored destination (docs/contract.md#delivery-operations).
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { MAX_PREVIEWS_PER_MINUTE, MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import { ConnectionTestDto, toConnectionTestDto } from '../http/dto/receiver.dto.js';
import { dataOf, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { DeliveriesService } from './deliveries.service.js';
import { DestinationDeliveriesDto, toDeliveriesDto } from './dto/delivery.dto.js';
import { DestinationsQueryDto } from './dto/destination.dto.js';
import { TestDestinationDto } from './dto/destination-bodies.dto.js';
import { PreviewSelectionDto, SelectionPreviewDto } from './dto/selection-preview.dto.js';

@ApiTags('Deliveries')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('observability')
export class WorkspaceDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  @NeedsRight('destinations.read')
  @Operation({
    id: 'listDeliveries',
    summary: 'List the delivery status of all destinations',
    description: 'Status, counters, backlog and last error of the destinations of a workspace.',
    answer: pageOf(DestinationDeliveriesDto, {
      name: 'DeliveriesListDto',
      description: 'In the order of the list of destinations.',
    }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: DestinationsQueryDto,
  ): Promise<Page<DestinationDeliveriesDto>> {
    const { deliveries, total } = await this.deliveries.list(manager, query);
    const data = deliveries.map(({ destination, state }) =>
      Object.assign(toDeliveriesDto(state, destination.enabled), { destination_id: destination.id }),
    );
    return { data, total_count: total };
  }

  @Post('destinations/test')
  @NeedsRight('destinations.change')
  @Operation({
    id: 'testDestinationSettings',
    summary: 'Test settings of a destination',
    description:
      'Sends a test request to the platform and stores nothing. ' +
      `At most ${MAX_TESTS_PER_MINUTE} tests a minute for each account; beyond, 429 with \`Retry-After\`.`,
    answer: dataOf(ConnectionTestDto),
    errors: [404],
  })
  async test(
    @CurrentManager() manager: Manager,
    @Body() body: TestDestinationDto,
  ): Promise<Data<ConnectionTestDto>> {
    return { data: toConnectionTestDto(await this.deliveries.testSettings(manager, body)) };
  }

  @Post('destinations/preview')
  @NeedsRight('destinations.change')
  @Operation({
    id: 'previewDestinationSelection',
    summary: 'Preview the rules of a destination',
    description:
      'Counts how many of the last 100 generations of a workspace the keys, regions and filter select, without sampling. Sends and stores nothing. ' +
      `At most ${MAX_PREVIEWS_PER_MINUTE} previews a minute for each account; beyond, 429 with \`Retry-After\`.`,
    answer: dataOf(SelectionPreviewDto),
    errors: [404],
  })
  async preview(
    @CurrentManager() manager: Manager,
    @Body() body: PreviewSelectionDto,
  ): Promise<Data<SelectionPreviewDto>> {
    const { matched, of, contentGone } = await this.deliveries.previewSelection(manager, body);
    return { data: { matched, of, content_gone: contentGone } };
  }
}
