// The routes of notifications, an extension (docs/contract.md#notifications).
import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBearerAuth, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentActor, CurrentManager, ManagementOnly, NeedsRight } from '../auth/auth.decorators.js';
import type { Actor } from '../domain/audit.js';
import type { Manager } from '../domain/people/manager.js';
import { MAX_NOTIFICATIONS_PER_ACCOUNT } from '../domain/notifications/notification-rule.js';
import { dataOf, DeletedDto, pageOf } from '../http/openapi/envelopes.js';
import type { Data, Page } from '../http/openapi/envelopes.js';
import { Operation } from '../http/openapi/operation.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import {
  CreateNotificationDto,
  NotificationDto,
  NotificationsQueryDto,
  toNotificationDto,
  UpdateNotificationDto,
} from './dto/notification.dto.js';
import { NotificationsService } from './notifications.service.js';

const ID = { name: 'id', format: 'uuid', description: 'The id of the notification.' } as const;

@ApiTags('Notifications')
@ApiBearerAuth()
@ManagementOnly({ rejection: 403 })
@Controller('notifications')
export class NotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  @Get()
  @ConditionalGet()
  @NeedsRight('notifications.read')
  @Operation({
    id: 'listNotifications',
    summary: 'List notifications',
    description: 'The budget alerts of the account or of a workspace, newest first.',
    answer: pageOf(NotificationDto, { name: 'NotificationsResponseDto', description: 'Newest first.' }),
  })
  async list(
    @CurrentManager() manager: Manager,
    @Query() query: NotificationsQueryDto,
  ): Promise<Page<NotificationDto>> {
    const { items, total } = await this.notifications.list(manager, query);
    return { data: items.map(toNotificationDto), total_count: total };
  }

  @Post()
  @NeedsRight('notifications.change')
  @Operation({
    id: 'createNotification',
    summary: 'Create a notification',
    description:
      'Sends a signed event when a key, a budget or the credits reach a threshold, once a window. ' +
      `Responds 409 beyond ${MAX_NOTIFICATIONS_PER_ACCOUNT} notifications of the account.`,
    status: 201,
    answer: dataOf(NotificationDto),
    errors: [409],
  })
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateNotificationDto,
  ): Promise<Data<NotificationDto>> {
    return { data: toNotificationDto(await this.notifications.create(actor, body)) };
  }

  @Get(':id')
  @NeedsRight('notifications.read')
  @Operation({
    id: 'getNotification',
    summary: 'Get a notification',
    description: 'The settings of a notification, with masked secrets.',
    answer: dataOf(NotificationDto),
  })
  @ApiParam(ID)
  async get(@CurrentManager() manager: Manager, @Param('id') id: string): Promise<Data<NotificationDto>> {
    return { data: toNotificationDto(await this.notifications.get(manager, id)) };
  }

  @Patch(':id')
  @NeedsRight('notifications.change')
  @Operation({
    id: 'updateNotification',
    summary: 'Update a notification',
    description:
      'Partial update: omitted members keep their value. Pending events are sent at once. Concurrent updates conflict; ' +
      'the loser receives 409.',
    answer: dataOf(NotificationDto),
    errors: [409],
  })
  @ApiParam(ID)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateNotificationDto,
  ): Promise<Data<NotificationDto>> {
    return { data: toNotificationDto(await this.notifications.update(actor, id, body)) };
  }

  @Delete(':id')
  @NeedsRight('notifications.change')
  @Operation({
    id: 'deleteNotification',
    summary: 'Delete a notification',
    description: 'Deletes the notification and its events.',
    answer: DeletedDto,
  })
  @ApiParam(ID)
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.notifications.delete(actor, id);
    return { deleted: true };
  }
}
