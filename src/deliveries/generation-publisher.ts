// Publishes generations from the request path: stores the contents that destinations or the history need, then
// notifies. It never waits for a destination.
import { Injectable, Logger } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import type { GenerationContent } from '../domain/generations/generation-content.js';
import type { Generation } from '../domain/generations/generation.js';
import { Notifications } from '../persistence/database/notifications.js';
import { StorageUsage } from '../persistence/contents/storage-usage.js';
import { WorkspaceDestinationsCache } from './workspace-destinations.js';
import { Debouncer } from '../concurrency/debouncer.js';

// Milliseconds that notifications are collected for.
const DEBOUNCE_INTERVAL = 25;

export interface StoredCall {
  readonly generation: Generation;
  readonly content: GenerationContent | null;
}

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
   * Returns what may be stored of a call. The content is null when neither a destination of the workspace nor the history
   * needs it, when the workspace exceeds its content quota, or when no contents are kept: the call is then delivered without
   * its input. The message of a failure, which may repeat the input, is not kept in a workspace with a destination in
   * privacy mode, nor where no contents are kept.
   */
  async toStore(generation: Generation, content: () => GenerationContent): Promise<StoredCall> {
    const { workspaceId, errorMessage } = generation;
    const keepsContents = this.config.retention.contentHours > 0;
    const destinations = keepsContents ? await this.destinations.find(workspaceId) : null;
    const mayKeepMessage = errorMessage === null || destinations?.isPrivate === false;
    const isContentNeeded = destinations?.needsContent === true && this.storage.mayStoreContent(workspaceId);
    return {
      generation: mayKeepMessage ? generation : { ...generation, errorMessage: null },
      content: isContentNeeded ? content() : null,
    };
  }

  /** Call this when a generation of the workspace has committed. */
  generationAppended(workspaceId: string): void {
    this.pending.add(workspaceId);
  }

  /** Consumers in this and other processes receive the notification from the database. */
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
      this.logger.debug({ error }, 'failed to publish generation notifications');
      throw error;
    }
  }
}

/** The notification channel in the database. */
export const GENERATIONS_CHANNEL = 'generations_appended';

export interface GenerationsAppended {
  readonly workspaceId: string;
  /** The replica that served the calls. It ensures that a process delivers them. */
  readonly replicaId: string;
}

/** Writes the payload. The workspace comes first, because earlier versions sent nothing else. */
export function writeGenerationsAppended({ workspaceId, replicaId }: GenerationsAppended): string {
  return `${workspaceId} ${replicaId}`;
}

export function readGenerationsAppended(payload: string): GenerationsAppended {
  const [workspaceId = '', replicaId = ''] = payload.split(' ');
  return { workspaceId, replicaId };
}
