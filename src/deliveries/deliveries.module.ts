// Forwards the log to the destinations. It knows of calls only what the database tells it.
import { Module } from '@nestjs/common';
import { BatchPlanner } from './batches/batch-builder.js';
import { BatchSender } from './batches/batch-sender.js';
import { BroadcastModule } from './broadcast.module.js';
import { ContentSweeper } from './log/content-sweeper.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { Dispatcher } from './consumers/consumer-supervisor.js';
import { LaneServices } from './consumers/consumer-services.js';
import { LogPages } from './log/log-tail.js';
import { RequestSizes } from './batches/payload-sizer.js';
import { TracedContents } from './log/content-cache.js';
import { TracedKeys } from './log/key-name-cache.js';
import { Turns } from '../concurrency/yield-queue.js';

@Module({
  imports: [BroadcastModule],
  providers: [
    BatchPlanner,
    BatchSender,
    ContentSweeper,
    DeliveryMetrics,
    Dispatcher,
    LaneServices,
    LogPages,
    RequestSizes,
    TracedContents,
    TracedKeys,
    Turns,
  ],
})
export class DeliveriesModule {}
