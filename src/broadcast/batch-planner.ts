// Turns what follows a destination's place in the log into the batch that is sent next.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { MAX_DELIVERY_AGE, hadCommitted } from '../domain/delivery.js';
import { needsContent } from '../domain/destination-selection.js';
import type { LogPosition, LogSnapshot } from '../domain/delivery.js';
import type { GenerationContent } from '../domain/generation-content.js';
import type { GenerationTrace } from '../domain/generation-trace.js';
import type { Generation } from '../domain/generation.js';
import { buildTrace } from '../domain/trace-builder.js';
import type { ClaimedCursor } from '../persistence/delivery-cursors.repository.js';
import type { TracedKey } from '../persistence/api-keys.repository.js';
import { GenerationReader } from '../persistence/generation-reader.js';
import type { LoggedGeneration } from '../persistence/generation-reader.js';
import { ByteBudget } from './byte-budget.js';
import type { DeliveryTarget } from './broadcast-terms.js';
import { LogPages } from './log-pages.js';
import { TracedContents } from './traced-contents.js';
import { TracedKeys } from './traced-keys.js';
import { Turns } from './turns.js';

// Bytes of contents of one batch, and of all batches of this process that are under way.
const MAX_BATCH_CONTENT = 2_000_000;
const MAX_CONTENT_IN_MEMORY = 128_000_000;
const ENTRIES_PER_TURN = 50;

/** What is to become of one generation: sent, given up, or passed over because the destination does not want it. */
export interface PlannedEntry {
  readonly position: LogPosition;
  readonly generation: Pick<Generation, 'id' | 'createdAt'>;
  readonly fate: GenerationTrace | 'expired' | 'content_gone' | 'passed';
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

interface Page {
  readonly hasMore: boolean;
  readonly isHeldBack: boolean;
  /** What had committed then is not this destination's. */
  readonly start?: LogSnapshot;
  /** Somebody has asked for these by name, whatever their age and whether they would be chosen today. */
  readonly isNamed?: boolean;
}

/** Of a candidate for sending the key that it is told with. */
type Verdict = TracedKey | 'expired' | 'passed';

interface JudgedEntry {
  readonly entry: LoggedGeneration;
  readonly verdict: Verdict;
}

const NO_CONTENTS: ReadonlyMap<string, GenerationContent> = new Map();

@Injectable()
export class BatchPlanner {
  private readonly budget = new ByteBudget(MAX_CONTENT_IN_MEMORY);

  constructor(
    private readonly pages: LogPages,
    private readonly reader: GenerationReader,
    private readonly keys: TracedKeys,
    private readonly contents: TracedContents,
    private readonly turns: Turns,
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
    page: Page,
  ): Promise<PlannedBatch> {
    const { destination, filtersByInput } = target;
    const keys = await this.keys.find(
      destination.workspaceId,
      new Set(logged.map(({ generation }) => generation.apiKeyId)),
    );
    const judge = this.judgeOf(target, page, keys);
    const { judged, contentBytes } = takeWithin(logged, judge, maxTraces, needsContent(destination));
    const release = await this.budget.take(contentBytes);
    try {
      const contents = contentBytes === 0 ? NO_CONTENTS : await this.readContents(target, judged);
      const planned = ({ entry: { position, generation }, verdict }: JudgedEntry): PlannedEntry => {
        if (typeof verdict === 'string') return { position, generation, fate: verdict };
        const candidate = { generation, key: verdict, content: contents.get(generation.id) ?? null };
        const isSelected = page.isNamed === true || !filtersByInput || target.isSelected(candidate);
        if (isSelected) return { position, generation, fate: buildTrace(candidate, destination) };
        const isUnknown = candidate.content === null && target.isWanted(candidate);
        return { position, generation, fate: isUnknown ? 'content_gone' : 'passed' };
      };
      const entries: PlannedEntry[] = [];
      for (const each of judged) {
        if (entries.length % ENTRIES_PER_TURN === 0) await this.turns.take();
        entries.push(planned(each));
      }
      return {
        entries,
        hasMore: page.hasMore || judged.length < logged.length,
        isHeldBack: page.isHeldBack,
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Decides about an entry as far as that can be done without its content. */
  private judgeOf(
    { kind, filtersByInput, isSelected }: DeliveryTarget,
    { start, isNamed = false }: Page,
    keys: ReadonlyMap<string, TracedKey>,
  ): (entry: LoggedGeneration) => Verdict {
    const general = isNamed ? Infinity : MAX_DELIVERY_AGE;
    const oldest = this.clock.now().getTime() - Math.min(general, kind.delivery.limits.maxAge ?? Infinity);
    return ({ position, generation }) => {
      if (start !== undefined && hadCommitted(start, position.transaction)) return 'passed';
      if (generation.createdAt.getTime() < oldest) return 'expired';
      const key = keys.get(generation.apiKeyId);
      if (!key) return 'passed';
      return isNamed || filtersByInput || isSelected({ generation, key, content: null }) ? key : 'passed';
    };
  }

  private readContents(
    { destination: { workspaceId }, sharesContents }: DeliveryTarget,
    judged: readonly JudgedEntry[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const stored = judged
      .filter(({ entry, verdict }) => typeof verdict === 'object' && entry.contentBytes > 0)
      .map(({ entry }) => entry);
    // What nobody else will ask for is not kept: under load that is 100 MB.
    return sharesContents
      ? this.contents.find(workspaceId, stored)
      : this.reader.readContents(workspaceId, stored);
  }
}

/** The run of entries whose candidates are few and small enough for one batch; one candidate is never too many. */
function takeWithin(
  logged: readonly LoggedGeneration[],
  judge: (entry: LoggedGeneration) => Verdict,
  maxTraces: number,
  countsContents: boolean,
): { readonly judged: readonly JudgedEntry[]; readonly contentBytes: number } {
  const judged: JudgedEntry[] = [];
  let candidates = 0;
  let contentBytes = 0;
  for (const entry of logged) {
    const verdict = judge(entry);
    if (typeof verdict === 'object') {
      const bytes = countsContents ? entry.contentBytes : 0;
      const isFull = candidates >= maxTraces || contentBytes + bytes > MAX_BATCH_CONTENT;
      if (isFull && candidates > 0) break;
      candidates++;
      contentBytes += bytes;
    }
    judged.push({ entry, verdict });
  }
  return { judged, contentBytes };
}
