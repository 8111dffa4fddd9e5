// What the request path has to do with broadcasting: it stores what destinations will need and says that it did.
// Nothing here waits for a destination.
import { Injectable, Logger } from '@nestjs/common';
import type { EmbeddingInput } from '../domain/embedding.js';
import { contentOf } from '../domain/generation-content.js';
import type { GenerationContent } from '../domain/generation-content.js';
import type { Generation } from '../domain/generation.js';
import { Notifications } from '../persistence/notifications.js';
import { BroadcastTermsCache } from './broadcast-terms.js';
import { APPENDED_CHANNEL, Dispatcher } from './dispatcher.js';
import { TracedContents } from './traced-contents.js';

// Milliseconds for which news to the other replicas are gathered.
const GATHERING_TIME = 25;

@Injectable()
export class Broadcaster {
  private readonly logger = new Logger(Broadcaster.name);
  private readonly gathered = new Set<string>();
  private isGathering = false;

  constructor(
    private readonly terms: BroadcastTermsCache,
    private readonly dispatcher: Dispatcher,
    private readonly notifications: Notifications,
    private readonly contents: TracedContents,
  ) {}

  /** What of a call's content is to be stored; null where no destination of the workspace needs any. */
  async contentToStore(
    workspaceId: string,
    input: EmbeddingInput,
    errorMessage: string | null,
  ): Promise<GenerationContent | null> {
    const terms = await this.terms.find(workspaceId);
    return terms?.needsContent ? contentOf(input, errorMessage) : null;
  }

  /** To be called when a generation is committed, with what was stored of its content. */
  appended(
    { id, workspaceId }: Pick<Generation, 'id' | 'workspaceId'>,
    content: GenerationContent | null,
  ): void {
    if (content) this.contents.keep(id, content);
    if (this.gathered.has(workspaceId)) return;
    this.gathered.add(workspaceId);
    if (this.isGathering) return;
    this.isGathering = true;
    setTimeout(() => void this.tell(), GATHERING_TIME).unref();
  }

  private async tell(): Promise<void> {
    const workspaceIds = [...this.gathered];
    this.gathered.clear();
    this.isGathering = false;
    try {
      const listening: string[] = [];
      for (const workspaceId of workspaceIds) {
        const terms = await this.terms.find(workspaceId);
        if (!terms || terms.targets.size === 0) continue;
        listening.push(workspaceId);
        await this.dispatcher.appended(workspaceId);
      }
      if (listening.length > 0) await this.notifications.notify(APPENDED_CHANNEL, listening);
    } catch (error) {
      // The sweeps of all replicas find it.
      this.logger.debug({ error }, 'the other replicas could not be told of new generations');
    }
  }
}
