// What the request path has to do with broadcasting: it stores what destinations will need and says that it did.
// Nothing here waits for a destination.
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import type { EmbeddingInput } from '../domain/embeddings/embedding.js';
import { contentOf } from '../domain/generations/generation-content.js';
import type { GenerationContent } from '../domain/generations/generation-content.js';
import { Notifications } from '../persistence/database/notifications.js';
import { StorageUsage } from '../persistence/generations/storage-usage.js';
import { GENERATIONS_CHANNEL, writeGenerationsAppended } from './log/generation-events.js';
import { WorkspaceDestinationsCache } from './workspace-destinations.js';
import { Debouncer } from '../concurrency/debouncer.js';

// Milliseconds for which news are gathered.
const DEBOUNCE_INTERVAL = 25;

@Injectable()
export class GenerationPublisher {
  private readonly logger = new Logger(GenerationPublisher.name);
  private readonly pending = new Debouncer(DEBOUNCE_INTERVAL, (workspaceIds) => this.publish(workspaceIds));

  constructor(
    private readonly destinations: WorkspaceDestinationsCache,
    private readonly notifications: Notifications,
    private readonly config: AppConfig,
    private readonly storage: StorageUsage,
  ) {}

  /**
   * What of a call's content is to be stored; null where no destination of the workspace needs any, or the workspace is
   * above its quota: then the call is delivered without its input.
   */
  async contentToStore(
    workspaceId: string,
    input: EmbeddingInput,
    errorMessage: string | null,
  ): Promise<GenerationContent | null> {
    const destinations = this.destinations.peek(workspaceId) ?? (await this.destinations.find(workspaceId));
    if (!destinations?.needsContent || !this.storage.mayStoreContent(workspaceId)) return null;
    return contentOf(input, errorMessage);
  }

  /** To be called when a generation of the workspace is committed. */
  generationAppended(workspaceId: string): void {
    this.pending.add(workspaceId);
  }

  /** Whoever delivers, in this process or another one, hears of it from the database. */
  private async publish(workspaceIds: readonly string[]): Promise<void> {
    try {
      const pending: string[] = [];
      for (const workspaceId of workspaceIds) {
        const destinations = await this.destinations.find(workspaceId);
        if (destinations && destinations.targets.size + destinations.problems.size > 0)
          pending.push(writeGenerationsAppended({ workspaceId, replicaId: this.config.replicaId }));
      }
      if (pending.length > 0) await this.notifications.notify(GENERATIONS_CHANNEL, pending);
    } catch (error) {
      this.logger.debug({ error }, 'nobody could be told of new generations');
      throw error;
    }
  }
}
