// The part of notifications that operations use: reports of refused calls, tests of receivers.
import { Module } from '@nestjs/common';
import { GenerationEventsModule } from '../generation-events.module.js';
import { CrossingReporter } from './crossing-reporter.js';
import { NotificationClient } from './notification-client.js';
import { NotificationMetrics } from './notification-metrics.js';

const PROVIDERS = [CrossingReporter, NotificationClient, NotificationMetrics];

// Exported for the deliveries module, which reports and sends the same way.
@Module({ imports: [GenerationEventsModule], providers: PROVIDERS, exports: PROVIDERS })
export class NotificationEventsModule {}
