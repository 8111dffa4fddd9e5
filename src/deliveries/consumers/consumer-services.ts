// What every delivery lane works with.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { DeadLettersRepository } from '../../persistence/deliveries/dead-letters.repository.js';
import { DeliveryCursorsRepository } from '../../persistence/deliveries/delivery-cursors.repository.js';
import { BatchBuilder } from '../batches/batch-builder.js';
import { BatchSender } from '../batches/batch-sender.js';
import { WorkspaceDestinationsCache } from '../workspace-destinations.js';
import { ContentSweeper } from '../log/content-sweeper.js';
import { DeliveryMetrics } from '../delivery-metrics.js';

@Injectable()
export class ConsumerServices {
  constructor(
    readonly destinations: WorkspaceDestinationsCache,
    readonly planner: BatchBuilder,
    readonly sender: BatchSender,
    readonly cursors: DeliveryCursorsRepository,
    readonly deadLetters: DeadLettersRepository,
    readonly contents: ContentSweeper,
    readonly metrics: DeliveryMetrics,
    readonly config: AppConfig,
    readonly clock: Clock,
  ) {}

  /** Lanes of this process that deliver just now. */
  running = 0;

  random(): number {
    return Math.random();
  }
}
