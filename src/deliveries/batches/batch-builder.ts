// Builds the next batch of a destination from the log entries behind its cursor.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { needsContent } from '../../domain/destinations/destination-selection.js';
import type { Destination } from '../../domain/destinations/destination.js';
import type { LogPosition, LogSnapshot } from '../../domain/destinations/delivery.js';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { Generation } from '../../domain/generations/generation.js';
import { buildTrace } from '../../domain/destinations/trace-builder.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import { GenerationReader } from '../../persistence/generations/generation-reader.js';
import type { LoggedGeneration } from '../../persistence/generations/generation-reader.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import type { WeightedPermit } from '../../concurrency/semaphore.js';
import { BatchSize, DeliveryBudget } from '../delivery-budget.js';
import { draftEntries, isLongEnough, isSelected } from './entry-decision.js';
import type { DraftEntry, DraftLimits } from './entry-decision.js';
import { LogTail, PAGE_SIZE, reachOfLog } from '../log/log-tail.js';
import { ContentCache } from '../log/content-cache.js';
import { KeyNameCache } from '../log/key-name-cache.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import type { Work } from '../../concurrency/yield-queue.js';

/**
 * One log entry and its decision: a trace to send, a reason to drop it, or `passed` where the destination does not want
 * it.
 */
export interface BatchEntry {
  readonly position: LogPosition;
  readonly generation: Pick<Generation, 'id' | 'createdAt'>;
  readonly decision: GenerationTrace | 'expired' | 'content_gone' | 'passed';
}

export interface Batch {
  /** In log order. */
  readonly entries: readonly BatchEntry[];
  /** Whether the log has more entries right behind this batch. */
  readonly hasMore: boolean;
  readonly isHeldBack: boolean;
  /** Frees the memory of the batch. Call it once the batch is no longer needed. */
  release(): void;
}

export interface BatchBounds {
  /** Traces to send. */
  readonly maxTraces: number;
  /** Requests that share the batch. Each adds a page of the log and the texts of one request to its bounds. */
  readonly requests: number;
}

interface Page {
  readonly entries: readonly LoggedGeneration[];
  readonly hasMore: boolean;
  readonly isHeldBack: boolean;
  /** The destination does not receive entries that had committed by this snapshot. */
  readonly start?: LogSnapshot;
  /** A caller named these entries: their age and today's selection do not matter. */
  readonly isNamed?: boolean;
}

/** The entries of a batch, decided as far as possible without contents, and the memory that they take. */
interface Draft extends Pick<Batch, 'hasMore' | 'isHeldBack'> {
  readonly entries: readonly DraftEntry[];
  readonly isNamed: boolean;
  readonly bytes: number;
}

interface PermittedDraft {
  readonly draft: Draft;
  readonly permit: WeightedPermit;
}

const NO_CONTENTS: ReadonlyMap<string, GenerationContent> = new Map();

@Injectable()
export class BatchBuilder {
  private readonly budget = new DeliveryBudget();

  constructor(
    private readonly logTail: LogTail,
    private readonly reader: GenerationReader,
    private readonly keys: KeyNameCache,
    private readonly contents: ContentCache,
    private readonly yieldQueue: YieldQueue,
    private readonly clock: Clock,
  ) {}

  /** Returns the batch behind the cursor: at most `maxTraces` to send, and any number that are passed over. */
  async buildNext(
    target: DeliveryTarget,
    { position, start }: Pick<ClaimedCursor, 'position' | 'start'>,
    bounds: BatchBounds,
  ): Promise<Batch> {
    const { sharesLog: isShared, destination } = target;
    const { workspaceId } = destination;
    const pages = Math.min(bounds.requests, Math.ceil(bounds.maxTraces / PAGE_SIZE));
    return this.buildWithin(target, { ...bounds, pages }, async () => ({
      ...(await this.logTail.readPages(workspaceId, position, { enough: bounds.maxTraces, isShared, pages })),
      start,
    }));
  }

  /** Returns named generations for another delivery, regardless of age. */
  async buildNamed(
    target: DeliveryTarget,
    names: readonly Pick<Generation, 'id' | 'createdAt'>[],
  ): Promise<Batch> {
    return this.buildWithin(target, { maxTraces: names.length, requests: 1, pages: 1 }, async () => ({
      entries: await this.reader.readNamed(target.destination.workspaceId, names),
      hasMore: false,
      isHeldBack: false,
      isNamed: true,
    }));
  }

  /**
   * Returns the entries behind the cursor that are older than `before`, up to the first younger one: as expired, or as
   * passed over where the selection excludes them. Pages of the log tail reach less far back than the cursor may have
   * stopped.
   */
  async listExpired(
    target: DeliveryTarget,
    { position, start }: Pick<ClaimedCursor, 'position' | 'start'>,
    { before, stoodFor }: { readonly before: Date; readonly stoodFor: number },
  ): Promise<Pick<Batch, 'entries' | 'hasMore'>> {
    const { destination } = target;
    const page = await this.budget.takePages(destination);
    try {
      const since = reachOfLog(new Date(this.clock.now().getTime() - stoodFor));
      const logged = (await this.reader.readAfter(destination.workspaceId, position, since, PAGE_SIZE))
        .entries;
      const young = logged.findIndex(({ generation }) => generation.createdAt >= before);
      const old = young === -1 ? logged : logged.slice(0, young);
      const context = {
        keys: await this.findKeys(target, old),
        start,
        isNamed: false,
        now: this.clock.now(),
      };
      const work = this.yieldQueue.begin(destination.accountId, 'delivery');
      const limits = { maxTraces: Infinity, requests: 1, most: Infinity };
      const { entries } = await draftEntries(target, old, context, limits, work);
      return {
        entries: entries.map(({ entry, decision }) => ({
          position: entry.position,
          generation: { id: entry.generation.id, createdAt: entry.generation.createdAt },
          // No entry of this age is a candidate any more.
          decision: decision === 'passed' ? 'passed' : 'expired',
        })),
        hasMore: entries.length < old.length || old.length === PAGE_SIZE,
      };
    } finally {
      page.release();
    }
  }

  private async buildWithin(
    target: DeliveryTarget,
    { pages, ...bounds }: BatchBounds & { readonly pages: number },
    read: () => Promise<Page>,
  ): Promise<Batch> {
    const { draft, permit } = await this.draftWithin(target, pages, (most) =>
      this.readDraft(target, { ...bounds, most }, read),
    );
    try {
      return await this.build(target, draft, permit);
    } catch (error) {
      permit.release();
      throw error;
    }
  }

  private async draftWithin(
    { destination }: DeliveryTarget,
    pages: number,
    find: (most: number) => Promise<Draft>,
  ): Promise<PermittedDraft> {
    const first = await this.tryDraft(destination, pages, find);
    if ('draft' in first) return first;
    // The page is released before the wait and read again afterwards.
    const permit = await first.pending;
    try {
      return { draft: await find(first.bytes), permit };
    } catch (error) {
      permit.release();
      throw error;
    }
  }

  private async tryDraft(
    destination: Destination,
    pages: number,
    find: (most: number) => Promise<Draft>,
  ): Promise<PermittedDraft | { readonly pending: Promise<WeightedPermit>; readonly bytes: number }> {
    const page = await this.budget.takePages(destination, pages);
    try {
      const draft = await find(Infinity);
      const permit = this.budget.takeBatch(destination, draft.bytes);
      return permit instanceof Promise ? { pending: permit, bytes: draft.bytes } : { draft, permit };
    } finally {
      page.release();
    }
  }

  private async readDraft(
    target: DeliveryTarget,
    limits: DraftLimits,
    read: () => Promise<Page>,
  ): Promise<Draft> {
    const { destination } = target;
    const page = await read();
    const isNamed = page.isNamed === true;
    const keys = await this.findKeys(target, page.entries);
    const work = this.yieldQueue.begin(destination.accountId, 'delivery');
    const context = { keys, start: page.start, isNamed, now: this.clock.now() };
    const { entries, bytes } = await draftEntries(target, page.entries, context, limits, work);
    return {
      entries,
      bytes,
      hasMore: page.hasMore || entries.length < page.entries.length,
      isHeldBack: page.isHeldBack,
      isNamed,
    };
  }

  private findKeys({ destination }: DeliveryTarget, entries: readonly LoggedGeneration[]) {
    return this.keys.find(
      destination.workspaceId,
      new Set(entries.map(({ generation }) => generation.apiKeyId)),
    );
  }

  private async build(target: DeliveryTarget, draft: Draft, permit: WeightedPermit): Promise<Batch> {
    const contents = await this.readContents(target, draft.entries);
    const entries: BatchEntry[] = [];
    const size = new BatchSize();
    const work = this.yieldQueue.begin(target.destination.accountId, 'delivery');
    await work.yieldNow();
    for (const each of draft.entries) {
      if (isLongEnough(work)) break;
      if (work.isDue) await work.yieldNow();
      const { position, generation } = each.entry;
      const { id, createdAt } = generation;
      const pending = decisionOf(target, each, contents.get(generation.id) ?? null, draft.isNamed, work);
      const decision = pending instanceof Promise ? await pending : pending;
      // The row itself is not kept: a slow platform would hold it in memory.
      entries.push({ position, generation: { id, createdAt }, decision });
      if (typeof decision === 'object') size.addTrace(each.textBytes);
      else size.addOther();
    }
    permit.shrinkTo(size.bytes);
    const hasMore = draft.hasMore || entries.length < draft.entries.length;
    return { entries, hasMore, isHeldBack: draft.isHeldBack, release: () => permit.release() };
  }

  private readContents(
    { destination, sharesContents }: DeliveryTarget,
    drafted: readonly DraftEntry[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const { workspaceId } = destination;
    if (!needsContent(destination)) return Promise.resolve(NO_CONTENTS);
    const stored = drafted
      .filter(({ entry, decision }) => typeof decision === 'object' && entry.contentBytes > 0)
      .map(({ entry }) => entry);
    // Contents that no other destination reads are not cached: under load they take 100 MB.
    return sharesContents
      ? this.contents.find(workspaceId, stored)
      : this.reader.readContents(workspaceId, stored);
  }
}

function decisionOf(
  target: DeliveryTarget,
  { entry: { generation }, decision }: DraftEntry,
  content: GenerationContent | null,
  isNamed: boolean,
  work: Work,
): BatchEntry['decision'] | Promise<BatchEntry['decision']> {
  if (typeof decision === 'string') return decision;
  const { destination, filtersByContent, selection } = target;
  const candidate = { generation, key: decision, content };
  if (isNamed || !filtersByContent) return buildTrace(candidate, destination);
  return isSelected(selection, candidate, work).then((passes) => {
    if (passes) return buildTrace(candidate, destination);
    // Entries that the other rules exclude were passed over earlier.
    return content === null ? 'content_gone' : 'passed';
  });
}
