// Forwards the log to the destinations.
import { Module } from '@nestjs/common';
import { BatchPlanner } from './batch-planner.js';
import { BatchSender } from './batch-sender.js';
import { BroadcastTermsCache } from './broadcast-terms.js';
import { Broadcaster } from './broadcaster.js';
import { ConnectionTester } from './connection-test.js';
import { ContentSweeper } from './content-sweeper.js';
import { DeliveryExchange } from './delivery-exchange.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { Dispatcher } from './dispatcher.js';
import { LaneServices } from './lane-services.js';
import { LogPages } from './log-pages.js';
import { TracedContents } from './traced-contents.js';
import { TracedKeys } from './traced-keys.js';
import { Turns } from './turns.js';
import { WebhookSignatures } from './webhook-signatures.js';

@Module({
  providers: [
    BatchPlanner,
    BatchSender,
    BroadcastTermsCache,
    Broadcaster,
    ConnectionTester,
    ContentSweeper,
    DeliveryExchange,
    DeliveryMetrics,
    Dispatcher,
    LaneServices,
    LogPages,
    TracedContents,
    TracedKeys,
    Turns,
    WebhookSignatures,
  ],
  exports: [Broadcaster, ConnectionTester, WebhookSignatures],
})
export class BroadcastModule {}
