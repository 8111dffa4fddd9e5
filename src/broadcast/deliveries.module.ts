// Forwards the log to the destinations. It knows of calls only what the database tells it.
import { Module } from '@nestjs/common';
import { BatchPlanner } from './batch-planner.js';
import { BatchSender } from './batch-sender.js';
import { BroadcastModule } from './broadcast.module.js';
import { ContentSweeper } from './content-sweeper.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { Dispatcher } from './dispatcher.js';
import { LaneServices } from './lane-services.js';
import { LogPages } from './log-pages.js';
import { RequestSizes } from './request-sizes.js';
import { TracedContents } from './traced-contents.js';
import { TracedKeys } from './traced-keys.js';
import { Turns } from './turns.js';

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
