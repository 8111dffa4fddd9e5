// What operations have to do with broadcasting: what is to be stored of calls, who is told of them, trying destinations.
import { Module } from '@nestjs/common';
import { BroadcastTermsCache } from './workspace-destinations.js';
import { Broadcaster } from './broadcaster.js';
import { ConnectionTester } from './connection-test.js';
import { DeliveryExchange } from './batches/platform-client.js';
import { WebhookSignatures } from './batches/webhook-signatures.js';

const PROVIDERS = [BroadcastTermsCache, Broadcaster, ConnectionTester, DeliveryExchange, WebhookSignatures];

// Deliveries stand on the same: they send as tests of destinations do.
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class BroadcastModule {}
