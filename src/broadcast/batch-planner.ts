// Turns what follows a destination's place in the log into the batch that is sent next.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { MAX_DELIVERY_AGE, hadCommitted } from '../domain/delivery.js';
import { needsContent } from '../domain/destination-selection.js';
import type { Destination } from '../domain/destination.js';
import type { LogPosition, LogSnapshot } from '../domain/delivery.js';
import type { GenerationContent } from '../domain/generation-content.js';
import type { GenerationTrace } from '../domain/generation-trace.js';
import type { Generation } from '../domain/generation.js';
import { buildTrace } from '../domain/trace-builder.js';
import type { ClaimedCursor } from '../persistence/delivery-cursors.repository.js';
import type { TracedKey } from '../persistence/api-keys.repository.js';
import { GenerationReader } from '../persistence/generation-reader.js';
import type { LoggedGeneration } from '../persistence/generation-reader.js';
import type { DeliveryTarget } from './broadcast-terms.js';
import type { Share } from './byte-budget.js';
import { BatchSize, DeliveryMemory, textBytesOf } from './delivery-memory.js';
import { LogPages } from './log-pages.js';
import { TracedContents } from './traced-contents.js';
import { TracedKeys } from './traced-keys.js';
import { Turns } from './turns.js';

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
  /** To be called when the batch is needed no more. */
  release(): void;
}

interface Page {
  readonly entries: readonly LoggedGeneration[];
  readonly hasMore: boolean;
  readonly isHeldBack: boolean;
  /** What had committed then is not this destination's. */
  readonly start?: LogSnapshot;
  /** Somebody has asked for these by name, whatever their age and whether they would be chosen today. */
  readonly isNamed?: boolean;
}

/** Of a candidate for sending the key that it is told with. */
type Verdict = TracedKey | 'expired' | 'passed';

interface RunLimits {
  readonly maxTraces: number;
  /** Bytes of memory. */
  readonly most: number;
}

interface JudgedEntry {
  readonly entry: LoggedGeneration;
  readonly verdict: Verdict;
  /** Of a candidate, what callers have said in it. */
  readonly textBytes: number;
}

/** What the next batch is made of, and the memory that it takes. */
interface Run extends Pick<PlannedBatch, 'hasMore' | 'isHeldBack'> {
  readonly judged: readonly JudgedEntry[];
  readonly isNamed: boolean;
  readonly bytes: number;
}

interface Planned {
  readonly run: Run;
  readonly share: Share;
}

const NO_CONTENTS: ReadonlyMap<string, GenerationContent> = new Map();

@Injectable()
export class BatchPlanner {
  private readonly memory = new DeliveryMemory();

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
    const { workspaceId } = target.destination;
    return this.plan(target, maxTraces, async () => ({
      ...(await this.pages.read(workspaceId, position, { enough: maxTraces, isShared: target.sharesLog })),
      start,
    }));
  }

  /** Generations that are to be sent again, whatever their age. */
  async planNamed(
    target: DeliveryTarget,
    names: readonly Pick<Generation, 'id' | 'createdAt'>[],
  ): Promise<PlannedBatch> {
    return this.plan(target, names.length, async () => ({
      entries: await this.reader.readNamed(target.destination.workspaceId, names),
      hasMore: false,
      isHeldBack: false,
      isNamed: true,
    }));
  }

  private async plan(
    target: DeliveryTarget,
    maxTraces: number,
    read: () => Promise<Page>,
  ): Promise<PlannedBatch> {
    const { run, share } = await this.findRoom(target, (most) =>
      this.findRun(target, { maxTraces, most }, read),
    );
    try {
      return await this.build(target, run, share);
    } catch (error) {
      share.release();
      throw error;
    }
  }

  private async findRoom(
    { destination }: DeliveryTarget,
    find: (most: number) => Promise<Run>,
  ): Promise<Planned> {
    const first = await this.tryRoom(destination, find);
    if ('run' in first) return first;
    // Who waits holds nothing of the log meanwhile, and reads it again.
    const share = await first.asked;
    try {
      return { run: await find(first.bytes), share };
    } catch (error) {
      share.release();
      throw error;
    }
  }

  private async tryRoom(
    destination: Destination,
    find: (most: number) => Promise<Run>,
  ): Promise<Planned | { readonly asked: Promise<Share>; readonly bytes: number }> {
    const page = await this.memory.takePage(destination);
    try {
      const run = await find(Infinity);
      const share = this.memory.takeBatch(destination, run.bytes);
      return share instanceof Promise ? { asked: share, bytes: run.bytes } : { run, share };
    } finally {
      page.release();
    }
  }

  private async findRun(target: DeliveryTarget, limits: RunLimits, read: () => Promise<Page>): Promise<Run> {
    const { destination } = target;
    const page = await read();
    const keys = await this.keys.find(
      destination.workspaceId,
      new Set(page.entries.map(({ generation }) => generation.apiKeyId)),
    );
    const { judged, bytes } = takeWithin(page.entries, this.judgeOf(target, page, keys), destination, limits);
    return {
      judged,
      bytes,
      hasMore: page.hasMore || judged.length < page.entries.length,
      isHeldBack: page.isHeldBack,
      isNamed: page.isNamed === true,
    };
  }

  private async build(
    target: DeliveryTarget,
    { judged, isNamed, hasMore, isHeldBack }: Run,
    share: Share,
  ): Promise<PlannedBatch> {
    const { destination, filtersByInput } = target;
    const contents = await this.readContents(target, judged);
    const fateOf = ({ entry: { generation }, verdict }: JudgedEntry): PlannedEntry['fate'] => {
      if (typeof verdict === 'string') return verdict;
      const candidate = { generation, key: verdict, content: contents.get(generation.id) ?? null };
      const isSelected = isNamed || !filtersByInput || target.isSelected(candidate);
      if (isSelected) return buildTrace(candidate, destination);
      return candidate.content === null && target.isWanted(candidate) ? 'content_gone' : 'passed';
    };
    const entries: PlannedEntry[] = [];
    const size = new BatchSize();
    for (const each of judged) {
      if (entries.length % ENTRIES_PER_TURN === 0) await this.turns.take();
      const { position, generation } = each.entry;
      const { id, createdAt } = generation;
      const fate = fateOf(each);
      // Of the row itself nothing is kept for as long as a platform takes.
      entries.push({ position, generation: { id, createdAt }, fate });
      if (typeof fate === 'object') size.addTrace(each.textBytes);
      else size.addOther();
    }
    share.shrinkTo(size.bytes);
    return { entries, hasMore, isHeldBack, release: () => share.release() };
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
    { destination, sharesContents }: DeliveryTarget,
    judged: readonly JudgedEntry[],
  ): Promise<ReadonlyMap<string, GenerationContent>> {
    const { workspaceId } = destination;
    if (!needsContent(destination)) return Promise.resolve(NO_CONTENTS);
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
  destination: Destination,
  { maxTraces, most }: RunLimits,
): Pick<Run, 'judged' | 'bytes'> {
  const judged: JudgedEntry[] = [];
  const size = new BatchSize();
  const readsContents = needsContent(destination);
  for (const entry of logged) {
    const verdict = judge(entry);
    const isCandidate = typeof verdict === 'object';
    const textBytes = isCandidate ? textBytesOf(entry, destination, readsContents) : 0;
    if (isCandidate) {
      const isFull = size.traces >= maxTraces || !size.hasRoomFor(textBytes, most);
      if (isFull && size.traces > 0) break;
      size.addTrace(textBytes);
    } else {
      size.addOther();
    }
    judged.push({ entry, verdict, textBytes });
  }
  return { judged, bytes: size.bytes };
}
