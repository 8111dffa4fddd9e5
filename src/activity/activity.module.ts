// Activity by day, and analytics about an account's calls.
import { Module } from '@nestjs/common';
import { ActivityController } from './activity.controller.js';
import { ActivityService } from './activity.service.js';
import { AnalyticsController } from './analytics.controller.js';
import { AnalyticsService } from './analytics.service.js';

@Module({
  controllers: [ActivityController, AnalyticsController],
  providers: [ActivityService, AnalyticsService],
})
export class ActivityModule {}
