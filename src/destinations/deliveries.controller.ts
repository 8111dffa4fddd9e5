// Delivery operations for operators: extensions of the contract (docs/contract.md#delivery-operations).
import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Manager } from '../domain/people/manager.js';
import { MAX_REPLAYS_PER_HOUR, MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import { ConnectionTestDto, SigningSecretDto, toConnectionTestDto } from '../http/dto/receiver.dto.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { DeliveriesService } from './deliveries.service.js';
import {
  DeadLettersQueryDto,
  DeadLettersResponseDto,
  DeliveriesDto,
  ReplayDto,
  toDeadLetterDto,
  toDeliveriesDto,
} from './dto/delivery.dto.js';
import { CreateReplayDto } from './dto/replay.dto.js';

@ApiTags('Deliveries')
@ApiBearerAuth()
@ManagementOnly()
@Controller('observability/destinations/:id')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Post('test')
  @NeedsRight('destinations.change')
  @Operation({
    id: 'testDestination',
    summary: 'Test a destination',
    description: `Sends a test request to the platform. At most ${MAX_TESTS_PER_MINUTE} tests a minute for each destination; beyond, 429 with \`Retry-After\`.`,
    answer: dataOf(ConnectionTestDto),
  })
  async test(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<ConnectionTestDto>> {
    return { data: toConnectionTestDto(await this.deliveries.test(manager, id)) };
  }

  @Get('deliveries')
  @NeedsRight('destinations.read')
  @Operation({
    id: 'getDestinationDeliveries',
    summary: 'Get the delivery status',
    description: 'Status, counters, backlog and last error of a destination.',
    answer: dataOf(DeliveriesDto),
  })
  async describe(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<DeliveriesDto>> {
    const { destination, state } = await this.deliveries.describe(manager, id);
    return { data: toDeliveriesDto(state, destination.enabled) };
  }

  @Get('signing-secret')
  @NeedsRight('destinations.change')
  @Operation({
    id: 'getDestinationSigningSecret',
    summary: 'Get the signing secret of a webhook',
    description:
      'Standard Webhooks: the receiver verifies `webhook-signature` with it. No other operation returns it.',
    answer: dataOf(SigningSecretDto),
  })
  async signingSecret(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
  ): Promise<Data<SigningSecretDto>> {
    return { data: { secret: await this.deliveries.signingSecret(manager, id) } };
  }

  @Get('dead-letters')
  @NeedsRight('destinations.read')
  @Operation({
    id: 'listDeadLetters',
    summary: 'List dead letters',
    description: 'Generations that the platform rejected, newest first.',
    answer: DeadLettersResponseDto,
  })
  async listDeadLetters(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Query() page: DeadLettersQueryDto,
  ): Promise<DeadLettersResponseDto> {
    const { letters, total, nextCursor } = await this.deliveries.listDeadLetters(manager, id, page);
    return { data: letters.map(toDeadLetterDto), total_count: total, next_cursor: nextCursor };
  }

  @Post('replay')
  @NeedsRight('destinations.change')
  @Operation({
    id: 'replayDeliveries',
    summary: 'Replay deliveries',
    description:
      'Delivers generations again, from a time or from dead letters. ' +
      'Responds 409 while another replay of the destination runs. ' +
      `At most ${MAX_REPLAYS_PER_HOUR} replays an hour for each destination; beyond, 429 with \`Retry-After\`. ` +
      'A replay that sends nothing does not count.',
    status: 202,
    answer: dataOf(ReplayDto),
    errors: [409],
  })
  async replay(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Body() body: CreateReplayDto,
  ): Promise<Data<ReplayDto>> {
    return { data: { dead_letters: await this.deliveries.replay(manager, id, body) } };
  }
}
