// The log for all destinations of a workspace: what one of them has read is there for the others, and for its own next
// batch.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../domain/clock.js';
import { MAX_DELIVERY_AGE, isBehind } from '../../domain/destinations/delivery.js';
import type { LogPosition } from '../../domain/destinations/delivery.js';
import { GenerationReader } from '../../persistence/generations/generation-reader.js';
import type { LogPage } from '../../persistence/generations/generation-reader.js';

/** Entries that are read at once. */
export const PAGE_SIZE = 500;
// Older partitions need not be looked into: what is older by this many milliseconds has expired for everyone.
const REACH = MAX_DELIVERY_AGE + 2 * 3_600_000;
// Bytes of entries that are kept, of one workspace and of all, for a while (milliseconds) after more was read: they never
// change.
const KEPT_OF_WORKSPACE = 4_000_000;
const KEPT = 32_000_000;
const KEPT_FOR = 2_000;
// Bytes of an entry without what its caller has said of the trace, and how much more that takes as objects than as JSON.
const LOGGED_ENTRY_BYTES = 2_000;
const TRACE_FACTOR = 3;

/** All that stands in the log of a workspace between two places. */
interface LogRange {
  readonly after: LogPosition;
  readonly entries: LogPage['entries'];
}

export interface PageOptions {
  /** So many entries are enough: less only where the log has no more. */
  readonly enough: number;
  /** Whether others will read the same. */
  readonly isShared: boolean;
}

/** The moment before which nothing is read. */
export function reachOfLog(now: Date): Date {
  return new Date(now.getTime() - REACH);
}

@Injectable()
export class LogTail {
  private readonly asked = new Map<string, Promise<LogPage>>();
  private readonly kept = new LRUCache<string, LogRange>({ maxSize: KEPT, ttl: KEPT_FOR });

  constructor(
    private readonly reader: GenerationReader,
    private readonly clock: Clock,
  ) {}

  /** What follows `after`, a page at most: what is known, and what stands behind that where it is not enough. */
  async read(workspaceId: string, after: LogPosition, { enough, isShared }: PageOptions): Promise<LogPage> {
    const kept = this.kept.get(workspaceId);
    const known = kept && covers(kept, after) ? kept.entries.slice(countUpTo(kept, after)) : [];
    // Whether there is more only the database can tell, once these are done.
    if (known.length >= Math.min(enough, PAGE_SIZE)) return firstPageOf(known);
    const end = known.at(-1)?.position ?? after;
    const page = await this.readBehind(workspaceId, end);
    const entries = [...known, ...page.entries];
    if (isShared) this.keepForAll(workspaceId, { after: end, entries: page.entries });
    // One alone comes back only for what it leaves of this page.
    else if (entries.length > enough) this.keep(workspaceId, { after, entries });
    return entries.length > PAGE_SIZE ? firstPageOf(entries) : { ...page, entries };
  }

  private readBehind(workspaceId: string, end: LogPosition): Promise<LogPage> {
    const key = `${workspaceId}:${end.transaction}:${end.ordinal}`;
    const asked = this.asked.get(key);
    if (asked) return asked;
    const page = this.ask(key, workspaceId, end);
    this.asked.set(key, page);
    return page;
  }

  private async ask(key: string, workspaceId: string, end: LogPosition): Promise<LogPage> {
    // Whoever asks until the statement leaves shares its answer; later ones must see what was committed meanwhile.
    await nextTurn();
    this.asked.delete(key);
    return this.reader.readAfter(workspaceId, end, reachOfLog(this.clock.now()), PAGE_SIZE);
  }

  /** Behind what is kept, where that goes on there; in its place only if further on: whoever is late is mostly alone. */
  private keepForAll(workspaceId: string, read: LogRange): void {
    const kept = this.kept.get(workspaceId);
    if (read.entries.length === 0 || (kept && !isBehind(endOf(read), endOf(kept)))) return;
    const whole =
      kept && covers(kept, read.after)
        ? { ...kept, entries: [...kept.entries.slice(0, countUpTo(kept, read.after)), ...read.entries] }
        : read;
    this.keep(workspaceId, whole);
  }

  /** As much of its end as there is room for. */
  private keep(workspaceId: string, { after, entries }: LogRange): void {
    let begin = entries.length;
    let size = 0;
    for (const entry of entries.toReversed()) {
      const bytes = LOGGED_ENTRY_BYTES + entry.traceLength * TRACE_FACTOR;
      if (size + bytes > KEPT_OF_WORKSPACE) break;
      size += bytes;
      begin--;
    }
    const range = { after: entries[begin - 1]?.position ?? after, entries: entries.slice(begin) };
    this.kept.set(workspaceId, range, { size });
  }
}

function firstPageOf(entries: LogPage['entries']): LogPage {
  return { entries: entries.slice(0, PAGE_SIZE), isHeldBack: false, hasMore: true };
}

function endOf({ after, entries }: LogRange): LogPosition {
  return entries.at(-1)?.position ?? after;
}

/** Whether nothing can be missing between the place and what stands behind it. */
function covers(range: LogRange, position: LogPosition): boolean {
  return !isBehind(range.after, position) && !isBehind(position, endOf(range));
}

/** Its entries up to the place, which is mostly near its end. */
function countUpTo({ entries }: LogRange, end: LogPosition): number {
  return entries.findLastIndex(({ position }) => !isBehind(position, end)) + 1;
}
