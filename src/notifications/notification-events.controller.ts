// The routes of a notification's events (docs/contract.md#notifications).
import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBearerAuth,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentCaller, ManagementOnly } from '../auth/auth.decorators.js';
import { MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import type { Caller } from '../domain/keys/api-key.js';
import { EVENT_HOURS, EVENT_RETENTION_DAYS } from '../domain/notifications/notification-rule.js';
import {
  ConnectionTestResponseDto,
  SigningSecretResponseDto,
  toConnectionTestDto,
} from '../http/dto/receiver.dto.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import {
  NotificationEventsQueryDto,
  NotificationEventsResponseDto,
  NotificationReplayResponseDto,
  toNotificationEventDto,
} from './dto/notification-event.dto.js';
import { NotificationEventsService } from './notification-events.service.js';

const ID = { name: 'id', format: 'uuid', description: 'The id of the notification.' } as const;

@ApiTags('Notifications')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('notifications/:id')
export class NotificationEventsController {
  constructor(private readonly events: NotificationEventsService) {}

  @Get('events')
  @ApiOperation({
    summary: 'List the events of a notification',
    description: `Events with the state of their delivery, newest first. They are kept for ${EVENT_RETENTION_DAYS} days.`,
    operationId: 'listNotificationEvents',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: NotificationEventsResponseDto })
  @ApiErrors(400, 401, 403, 404, 500, 503)
  async list(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: NotificationEventsQueryDto,
  ): Promise<NotificationEventsResponseDto> {
    const { events, next } = await this.events.list(caller, id, query);
    return { data: events.map(toNotificationEventDto), next };
  }

  @Post('test')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Test a notification',
    description: `Sends a signed event of type \`notification.test\`. At most ${MAX_TESTS_PER_MINUTE} tests a minute for each account; beyond, 429 with \`Retry-After\`.`,
    operationId: 'testNotification',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: ConnectionTestResponseDto })
  @ApiErrors(401, 403, 404, 429, 500, 503)
  async test(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ConnectionTestResponseDto> {
    return { data: toConnectionTestDto(await this.events.test(caller, id)) };
  }

  @Get('signing-secret')
  @ApiOperation({
    summary: 'Get the signing secret of a notification',
    description:
      'Standard Webhooks: the receiver verifies `webhook-signature` with it. No other operation returns it.',
    operationId: 'getNotificationSigningSecret',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: SigningSecretResponseDto })
  @ApiErrors(401, 403, 404, 500, 503)
  async signingSecret(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<SigningSecretResponseDto> {
    return { data: { secret: await this.events.signingSecret(caller, id) } };
  }

  @Post('replay')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Replay the dead letters of a notification',
    description: `Delivers all dead letters again, for up to ${EVENT_HOURS} hours. Responds 409 while the notification is disabled.`,
    operationId: 'replayNotification',
  })
  @ApiParam(ID)
  @ApiAcceptedResponse({ type: NotificationReplayResponseDto })
  @ApiErrors(401, 403, 404, 409, 500, 503)
  async replay(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<NotificationReplayResponseDto> {
    return { data: { dead_letters: await this.events.replay(caller, id) } };
  }
}
