// Budget alerts: thresholds of limits, sent to a webhook.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../deliveries/generation-events.module.js';
import { NotificationEventsModule } from '../deliveries/notifications/notification-events.module.js';
import { NotificationEventsController } from './notification-events.controller.js';
import { NotificationEventsService } from './notification-events.service.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationsService } from './notifications.service.js';

@Module({
  imports: [GenerationEventsModule, NotificationEventsModule],
  controllers: [NotificationsController, NotificationEventsController],
  providers: [NotificationsService, NotificationEventsService],
})
export class NotificationsModule {}
