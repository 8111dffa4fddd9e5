// Turns what follows a destination's place in the log into the batch that is sent next.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { MAX_DELIVERY_AGE, hadCommitted } from '../domain/delivery.js';
import type { LogPosition, LogSnapshot } from '../domain/delivery.js';
import type { GenerationContent } from '../domain/generation-content.js';
import type { GenerationTrace } from '../domain/generation-trace.js';
import type { Generation } from '../domain/generation.js';
import { buildTrace } from '../domain/trace-builder.js';
import type { ClaimedCursor } from '../persistence/delivery-cursors.repository.js';
import { GenerationReader } from '../persistence/generation-reader.js';
import type { LoggedGeneration } from '../persistence/generation-reader.js';
import { ByteBudget } from './byte-budget.js';
import type { DeliveryTarget } from './broadcast-terms.js';
import { LogPages } from './log-pages.js';
import { TracedKeys } from './traced-keys.js';

// Bytes of contents of one batch, and of all batches of this process that are under way.
const MAX_BATCH_CONTENT = 2_000_000;
const MAX_CONTENT_IN_MEMORY = 128_000_000;

/** What is to become of one generation: sent, given up, or passed over because the destination does not want it. */
export interface PlannedEntry {
  readonly position: LogPosition;
  readonly generation: Pick<Generation, 'id' | 'createdAt'>;
  readonly fate: GenerationTrace | 'expired' | 'passed';
}

export interface PlannedBatch {
  /** In the order of the log. */
  readonly entries: readonly PlannedEntry[];
  /** Whether more can be read at once behind this batch. */
  readonly hasMore: boolean;
  readonly isHeldBack: boolean;
  /** To be called when the batch's contents are needed no more. */
  release(): void;
}

@Injectable()
export class BatchPlanner {
  private readonly budget = new ByteBudget(MAX_CONTENT_IN_MEMORY);

  constructor(
    private readonly pages: LogPages,
    private readonly reader: GenerationReader,
    private readonly keys: TracedKeys,
    private readonly clock: Clock,
  ) {}

  /** The batch behind `after`: at most `maxTraces` to send, among any number that are passed over. */
  async planNext(
    target: DeliveryTarget,
    { position, start }: Pick<ClaimedCursor, 'position' | 'start'>,
    maxTraces: number,
  ): Promise<PlannedBatch> {
    const { entries, ...page } = await this.pages.read(target.destination.workspaceId, position);
    return this.plan(target, entries, maxTraces, { ...page, start });
  }

  /** Generations that are to be sent again, whatever their age. */
  async planNamed(
    target: DeliveryTarget,
    names: readonly Pick<Generation, 'id' | 'createdAt'>[],
  ): Promise<PlannedBatch> {
    const entries = await this.reader.readNamed(target.destination.workspaceId, names);
    return this.plan(target, entries, names.length, { hasMore: false, isHeldBack: false, isNamed: true });
  }

  private async plan(
    target: DeliveryTarget,
    logged: readonly LoggedGeneration[],
    maxTraces: number,
    page: {
      readonly hasMore: boolean;
      readonly isHeldBack: boolean;
      readonly start?: LogSnapshot;
      readonly isNamed?: true;
    },
  ): Promise<PlannedBatch> {
    const { destination } = target;
    const keys = await this.keys.find(
      destination.workspaceId,
      new Set(logged.map(({ generation }) => generation.apiKeyId)),
    );
    const isFresh = this.ageTest(target, page.isNamed === true);
    const isSelected = ({ generation }: LoggedGeneration, content: GenerationContent | null): boolean => {
      const key = keys.get(generation.apiKeyId);
      return key !== undefined && (page.isNamed === true || target.isSelected({ generation, key, content }));
    };
    const isFrom = ({ position }: LoggedGeneration): boolean =>
      page.start === undefined || !hadCommitted(page.start, position.transaction);
    const isCandidate = (entry: LoggedGeneration): boolean =>
      isFrom(entry) && isFresh(entry.generation) && (target.filtersByInput || isSelected(entry, null));
    const { taken, wanted, contentBytes } = takeWithin(logged, isCandidate, maxTraces, needsContents(target));
    const release = await this.budget.take(contentBytes);
    try {
      const contents =
        contentBytes === 0 ? new Map<string, GenerationContent>() : await this.readContents(target, wanted);
      const entries = taken.map((entry): PlannedEntry => {
        const { position, generation } = entry;
        const content = contents.get(generation.id) ?? null;
        if (isFrom(entry) && !isFresh(generation)) return { position, generation, fate: 'expired' };
        const key = keys.get(generation.apiKeyId);
        if (!key || !wanted.has(entry) || (target.filtersByInput && !isSelected(entry, content)))
          return { position, generation, fate: 'passed' };
        return { position, generation, fate: buildTrace({ generation, key, content }, destination) };
      });
      return {
        entries,
        hasMore: page.hasMore || taken.length < logged.length,
        isHeldBack: page.isHeldBack,
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  private ageTest({ kind }: DeliveryTarget, isNamed: boolean): (generation: Generation) => boolean {
    const general = isNamed ? Infinity : MAX_DELIVERY_AGE;
    const oldest = this.clock.now().getTime() - Math.min(general, kind.delivery.limits.maxAge ?? Infinity);
    return ({ createdAt }) => createdAt.getTime() >= oldest;
  }

  private readContents(
    { destination }: DeliveryTarget,
    wanted: ReadonlySet<LoggedGeneration>,
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const stored = [...wanted].filter(({ contentBytes }) => contentBytes > 0);
    return this.reader.readContents(
      destination.workspaceId,
      stored.map(({ generation }) => generation),
    );
  }
}

function needsContents({ destination, filtersByInput }: DeliveryTarget): boolean {
  return !destination.privacyMode || filtersByInput;
}

/** The run of entries whose candidates are few and small enough for one batch; one candidate is never too many. */
function takeWithin(
  logged: readonly LoggedGeneration[],
  isCandidate: (entry: LoggedGeneration) => boolean,
  maxTraces: number,
  countsContents: boolean,
): {
  readonly taken: readonly LoggedGeneration[];
  readonly wanted: ReadonlySet<LoggedGeneration>;
  readonly contentBytes: number;
} {
  const wanted = new Set<LoggedGeneration>();
  let contentBytes = 0;
  for (const [index, entry] of logged.entries()) {
    if (!isCandidate(entry)) continue;
    const bytes = countsContents ? entry.contentBytes : 0;
    const isFull = wanted.size >= maxTraces || contentBytes + bytes > MAX_BATCH_CONTENT;
    if (isFull && wanted.size > 0) return { taken: logged.slice(0, index), wanted, contentBytes };
    wanted.add(entry);
    contentBytes += bytes;
  }
  return { taken: logged, wanted, contentBytes };
}
