// Creates the consumers of this process with their dependencies.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { DeadLettersRepository } from '../../persistence/deliveries/dead-letters.repository.js';
import { DeliveryCursorsRepository } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import { BatchBuilder } from '../batches/batch-builder.js';
import { BatchSender } from '../batches/batch-sender.js';
import { DeliveryMetrics } from '../delivery-metrics.js';
import { GenerationContents } from '../../persistence/contents/generation-contents.js';
import { WorkspaceDestinationsCache } from '../workspace-destinations.js';
import { ConsumerCursor } from './consumer-cursor.js';
import { DestinationConsumer } from './destination-consumer.js';
import type { ConsumerLoad } from './destination-consumer.js';
import { SettledAhead } from './settled-ahead.js';

@Injectable()
export class DestinationConsumerFactory {
  private readonly load: ConsumerLoad = { running: 0 };
  private readonly settledAhead = new SettledAhead();

  constructor(
    private readonly destinations: WorkspaceDestinationsCache,
    private readonly builder: BatchBuilder,
    private readonly sender: BatchSender,
    private readonly cursors: DeliveryCursorsRepository,
    private readonly deadLetters: DeadLettersRepository,
    private readonly contents: GenerationContents,
    private readonly metrics: DeliveryMetrics,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** Returns a running consumer. */
  start(claim: ClaimedCursor): DestinationConsumer {
    return new DestinationConsumer(
      new ConsumerCursor(claim, this.cursors, this.contents, this.metrics),
      this.load,
      this.settledAhead,
      this.destinations,
      this.builder,
      this.sender,
      this.deadLetters,
      this.metrics,
      this.config,
      this.clock,
    );
  }
}
