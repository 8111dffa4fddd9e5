// What operations have to do with broadcasting: what is to be stored of calls, who is told of them, trying destinations.
import { Module } from '@nestjs/common';
import { BroadcastTermsCache } from './broadcast-terms.js';
import { Broadcaster } from './broadcaster.js';
import { ConnectionTester } from './connection-test.js';
import { DeliveryExchange } from './delivery-exchange.js';
import { WebhookSignatures } from './webhook-signatures.js';

@Module({
  providers: [BroadcastTermsCache, Broadcaster, ConnectionTester, DeliveryExchange, WebhookSignatures],
  exports: [BroadcastTermsCache, Broadcaster, ConnectionTester, DeliveryExchange, WebhookSignatures],
})
export class BroadcastModule {}
