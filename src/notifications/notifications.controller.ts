// The routes of notifications, an extension (docs/contract.md#notifications).
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
import type { Actor } from '../domain/audit.js';
import type { Caller } from '../domain/keys/api-key.js';
import { MAX_NOTIFICATIONS_PER_ACCOUNT } from '../domain/notifications/notification-rule.js';
import { DeletedDto } from '../http/dto/deleted.dto.js';
import { ApiErrors } from '../http/errors/api-errors.js';
import { ConditionalGet } from '../http/server/conditional-get.js';
import {
  CreateNotificationDto,
  NotificationResponseDto,
  NotificationsQueryDto,
  NotificationsResponseDto,
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
  @ApiOperation({
    summary: 'List notifications',
    description: 'The budget alerts of the account or of a workspace, newest first.',
    operationId: 'listNotifications',
  })
  @ApiOkResponse({ type: NotificationsResponseDto })
  @ApiErrors(400, 401, 403, 500, 503)
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: NotificationsQueryDto,
  ): Promise<NotificationsResponseDto> {
    const { items, total } = await this.notifications.list(caller, query);
    return { data: items.map(toNotificationDto), total_count: total };
  }

  @Post()
  @HttpCode(201)
  @ApiOperation({
    summary: 'Create a notification',
    description:
      'Sends a signed event when a key, a budget or the credits reach a threshold, once a window. ' +
      `Responds 409 beyond ${MAX_NOTIFICATIONS_PER_ACCOUNT} notifications of the account.`,
    operationId: 'createNotification',
  })
  @ApiCreatedResponse({ type: NotificationResponseDto })
  @ApiErrors(400, 401, 403, 409, 413, 500, 503)
  async create(
    @CurrentActor() actor: Actor,
    @Body() body: CreateNotificationDto,
  ): Promise<NotificationResponseDto> {
    return { data: toNotificationDto(await this.notifications.create(actor, body)) };
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Get a notification',
    description: 'The settings of a notification, with masked secrets.',
    operationId: 'getNotification',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: NotificationResponseDto })
  @ApiErrors(401, 403, 404, 500, 503)
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<NotificationResponseDto> {
    return { data: toNotificationDto(await this.notifications.get(caller, id)) };
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Update a notification',
    description:
      'Partial update: omitted members keep their value. Pending events are sent at once. Concurrent updates conflict; ' +
      'the loser receives 409.',
    operationId: 'updateNotification',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: NotificationResponseDto })
  @ApiErrors(400, 401, 403, 404, 409, 413, 500, 503)
  async update(
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @Body() body: UpdateNotificationDto,
  ): Promise<NotificationResponseDto> {
    return { data: toNotificationDto(await this.notifications.update(actor, id, body)) };
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Delete a notification',
    description: 'Deletes the notification and its events.',
    operationId: 'deleteNotification',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DeletedDto })
  @ApiErrors(401, 403, 404, 500, 503)
  async delete(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<DeletedDto> {
    await this.notifications.delete(actor, id);
    return { deleted: true };
  }
}
