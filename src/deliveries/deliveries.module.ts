// Delivers the generation log to destinations. Its only knowledge of calls comes from the database.
import { Module } from '@nestjs/common';
import { BatchBuilder } from './batches/batch-builder.js';
import { BatchSender } from './batches/batch-sender.js';
import { GenerationEventsModule } from './generation-events.module.js';
import { BudgetScan } from './notifications/budget-scan.js';
import { NotificationEventsModule } from './notifications/notification-events.module.js';
import { NotificationSender } from './notifications/notification-sender.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { ConsumerSupervisor } from './consumers/consumer-supervisor.js';
import { DestinationConsumerFactory } from './consumers/destination-consumer.factory.js';
import { LogTail } from './log/log-tail.js';
import { PayloadSizer } from './batches/payload-sizer.js';
import { ContentCache } from './log/content-cache.js';
import { KeyNameCache } from './log/key-name-cache.js';

@Module({
  imports: [GenerationEventsModule, NotificationEventsModule],
  providers: [
    BatchBuilder,
    BatchSender,
    BudgetScan,
    DeliveryMetrics,
    ConsumerSupervisor,
    DestinationConsumerFactory,
    LogTail,
    NotificationSender,
    PayloadSizer,
    ContentCache,
    KeyNameCache,
  ],
})
export class DeliveriesModule {}
