// What operations have to do with broadcasting: what is to be stored of calls, who is told of them, trying destinations.
import { Module } from '@nestjs/common';
import { WorkspaceDestinationsCache } from './workspace-destinations.js';
import { GenerationPublisher } from './generation-publisher.js';
import { ConnectionTester } from './connection-test.js';
import { PlatformClient } from './batches/platform-client.js';
import { WebhookSignatures } from './batches/webhook-signatures.js';

const PROVIDERS = [
  WorkspaceDestinationsCache,
  GenerationPublisher,
  ConnectionTester,
  PlatformClient,
  WebhookSignatures,
];

// Deliveries stand on the same: they send as tests of destinations do.
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class GenerationEventsModule {}
