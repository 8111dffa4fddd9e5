// The part of deliveries that operations use: contents to store, notifications of new generations, connection tests.
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

// Exported for the deliveries module, which sends requests the same way as connection tests.
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class GenerationEventsModule {}
