// Calls that were refused: recorded, listed, reported to budget alerts.
import { Module } from '@nestjs/common';
import { NotificationEventsModule } from '../deliveries/notifications/notification-events.module.js';
import { RefusalReporter } from './refusal-reporter.js';
import { RefusedLimits } from './refused-limits.js';
import { RefusalsController } from './refusals.controller.js';
import { RefusalsService } from './refusals.service.js';

@Module({
  imports: [NotificationEventsModule],
  controllers: [RefusalsController],
  providers: [RefusalReporter, RefusalsService, RefusedLimits],
})
export class RefusalsModule {}
