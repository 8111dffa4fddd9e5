// Delivery operations for operators: extensions of the contract (docs/contract.md#delivery-operations).
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import type { Caller } from '../domain/keys/api-key.js';
import { MAX_REPLAYS_PER_HOUR, MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import {
  ConnectionTestResponseDto,
  SigningSecretResponseDto,
  toConnectionTestDto,
} from '../http/dto/receiver.dto.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { DeliveriesService } from './deliveries.service.js';
import {
  DeadLettersResponseDto,
  DeliveriesResponseDto,
  ReplayResponseDto,
  toDeadLetterDto,
  toDeliveriesDto,
} from './dto/delivery.dto.js';
import { DeadLettersQueryDto } from './dto/dead-letters-query.dto.js';
import { CreateReplayDto } from './dto/replay.dto.js';

@ApiTags('Deliveries')
@ApiBearerAuth()
@ManagementOnly()
@Controller('observability/destinations/:id')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Post('test')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Test a destination',
    description: `Sends a test request to the platform. At most ${MAX_TESTS_PER_MINUTE} tests a minute for each destination; beyond, 429 with \`Retry-After\`.`,
    operationId: 'testDestination',
  })
  @ApiOkResponse({ type: ConnectionTestResponseDto })
  @ApiErrors(401, 404, 429, 500, 503)
  async test(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ConnectionTestResponseDto> {
    return { data: toConnectionTestDto(await this.deliveries.test(caller, id)) };
  }

  @Get('deliveries')
  @ApiOperation({
    summary: 'Get the delivery status',
    description: 'Status, counters, backlog and last error of a destination.',
    operationId: 'getDestinationDeliveries',
  })
  @ApiOkResponse({ type: DeliveriesResponseDto })
  @ApiErrors(401, 404, 429, 500, 503)
  async describe(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DeliveriesResponseDto> {
    const { destination, state } = await this.deliveries.describe(caller, id);
    return { data: toDeliveriesDto(state, destination.enabled) };
  }

  @Get('signing-secret')
  @ApiOperation({
    summary: 'Get the signing secret of a webhook',
    description:
      'Standard Webhooks: the receiver verifies `webhook-signature` with it. No other operation returns it.',
    operationId: 'getDestinationSigningSecret',
  })
  @ApiOkResponse({ type: SigningSecretResponseDto })
  @ApiErrors(401, 404, 429, 500, 503)
  async signingSecret(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<SigningSecretResponseDto> {
    return { data: { secret: await this.deliveries.signingSecret(caller, id) } };
  }

  @Get('dead-letters')
  @ApiOperation({
    summary: 'List dead letters',
    description: 'Generations that the platform rejected, newest first.',
    operationId: 'listDeadLetters',
  })
  @ApiOkResponse({ type: DeadLettersResponseDto })
  @ApiErrors(400, 401, 404, 429, 500, 503)
  async listDeadLetters(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() page: DeadLettersQueryDto,
  ): Promise<DeadLettersResponseDto> {
    const { letters, total, nextCursor } = await this.deliveries.listDeadLetters(caller, id, page);
    return { data: letters.map(toDeadLetterDto), total_count: total, next_cursor: nextCursor };
  }

  @Post('replay')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Replay deliveries',
    description:
      'Delivers generations again, from a time or from dead letters. ' +
      'Responds 409 while another replay of the destination runs. ' +
      `At most ${MAX_REPLAYS_PER_HOUR} replays an hour for each destination; beyond, 429 with \`Retry-After\`. ` +
      'A replay that sends nothing does not count.',
    operationId: 'replayDeliveries',
  })
  @ApiAcceptedResponse({ type: ReplayResponseDto })
  @ApiErrors(400, 401, 404, 409, 413, 429, 500, 503)
  async replay(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: CreateReplayDto,
  ): Promise<ReplayResponseDto> {
    return { data: { dead_letters: await this.deliveries.replay(caller, id, body) } };
  }
}
