// The routes of a notification's events (docs/contract.md#notifications).
import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import { MAX_TESTS_PER_MINUTE } from '../domain/destinations/delivery.js';
import type { Manager } from '../domain/people/manager.js';
import { EVENT_HOURS, EVENT_RETENTION_DAYS } from '../domain/notifications/notification-rule.js';
import { ConnectionTestDto, SigningSecretDto, toConnectionTestDto } from '../http/dto/receiver.dto.js';
import { dataOf } from '../http/openapi/envelopes.js';
import type { Data } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import {
  NotificationEventsQueryDto,
  NotificationEventsResponseDto,
  NotificationReplayDto,
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
  @NeedsRight('notifications.read')
  @Operation({
    id: 'listNotificationEvents',
    summary: 'List the events of a notification',
    description: `Events with the state of their delivery, newest first. They are kept for ${EVENT_RETENTION_DAYS} days.`,
    answer: NotificationEventsResponseDto,
  })
  @ApiParam(ID)
  async list(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
    @Query() query: NotificationEventsQueryDto,
  ): Promise<NotificationEventsResponseDto> {
    const { events, next } = await this.events.list(manager, id, query);
    return { data: events.map(toNotificationEventDto), next };
  }

  @Post('test')
  @NeedsRight('notifications.change')
  @Operation({
    id: 'testNotification',
    summary: 'Test a notification',
    description: `Sends a signed event of type \`notification.test\`. At most ${MAX_TESTS_PER_MINUTE} tests a minute for each account; beyond, 429 with \`Retry-After\`.`,
    answer: dataOf(ConnectionTestDto),
  })
  @ApiParam(ID)
  async test(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<ConnectionTestDto>> {
    return { data: toConnectionTestDto(await this.events.test(manager, id)) };
  }

  @Get('signing-secret')
  @NeedsRight('notifications.change')
  @Operation({
    id: 'getNotificationSigningSecret',
    summary: 'Get the signing secret of a notification',
    description:
      'Standard Webhooks: the receiver verifies `webhook-signature` with it. No other operation returns it.',
    answer: dataOf(SigningSecretDto),
  })
  @ApiParam(ID)
  async signingSecret(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
  ): Promise<Data<SigningSecretDto>> {
    return { data: { secret: await this.events.signingSecret(manager, id) } };
  }

  @Post('replay')
  @NeedsRight('notifications.change')
  @Operation({
    id: 'replayNotification',
    summary: 'Replay the dead letters of a notification',
    description: `Delivers all dead letters again, for up to ${EVENT_HOURS} hours. Responds 409 while the notification is disabled.`,
    status: 202,
    answer: dataOf(NotificationReplayDto),
    errors: [409],
  })
  @ApiParam(ID)
  async replay(
    @CurrentManager() manager: Manager,
    @Param('id') id: string,
  ): Promise<Data<NotificationReplayDto>> {
    return { data: { dead_letters: await this.events.replay(manager, id) } };
  }
}
