// Reads the end of the log for all destinations of a workspace. A read by one of them serves the others, and its own
// next batch.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../domain/clock.js';
import { MAX_DELIVERY_AGE, isBehind } from '../../domain/destinations/delivery.js';
import type { LogPosition } from '../../domain/destinations/delivery.js';
import { GenerationReader } from '../../persistence/generations/generation-reader.js';
import type { LogPage } from '../../persistence/generations/generation-reader.js';

/** Entries of one read. */
export const PAGE_SIZE = 500;
// Milliseconds that a read looks back. Older entries have expired for every destination, so their partitions are
// skipped.
const REACH = MAX_DELIVERY_AGE + 2 * 3_600_000;
// Bytes of cached entries, for one workspace and for all, and the milliseconds that they are kept after a read. Entries
// never change.
const KEPT_OF_WORKSPACE = 4_000_000;
const KEPT = 32_000_000;
const KEPT_FOR = 2_000;
// Bytes of an entry without the caller's trace, and the size of a trace in objects relative to its JSON.
const LOGGED_ENTRY_BYTES = 2_000;
const TRACE_FACTOR = 3;

/** All entries of a workspace's log between two positions. */
interface LogRange {
  readonly after: LogPosition;
  readonly entries: LogPage['entries'];
}

export interface PageOptions {
  /** A read returns at least this many entries unless the log has no more. */
  readonly enough: number;
  /** Whether other destinations will read the same entries. */
  readonly isShared: boolean;
}

/** The time before which nothing is read. */
export function reachOfLog(now: Date): Date {
  return new Date(now.getTime() - REACH);
}

@Injectable()
export class LogTail {
  private readonly pending = new Map<string, Promise<LogPage>>();
  private readonly kept = new LRUCache<string, LogRange>({ maxSize: KEPT, ttl: KEPT_FOR });

  constructor(
    private readonly reader: GenerationReader,
    private readonly clock: Clock,
  ) {}

  /** Returns up to so many pages behind `after` as one, until there are enough entries. */
  async readPages(
    workspaceId: string,
    after: LogPosition,
    { enough, isShared, pages }: PageOptions & { readonly pages: number },
  ): Promise<LogPage> {
    let page = await this.read(workspaceId, after, { enough, isShared });
    const entries = [...page.entries];
    for (let count = 1; count < pages && page.hasMore && entries.length < enough; count++) {
      const end = entries.at(-1)?.position ?? after;
      page = await this.read(workspaceId, end, { enough: enough - entries.length, isShared });
      entries.push(...page.entries);
    }
    return { ...page, entries };
  }

  /** Returns a page behind `after`: cached entries first, then entries from the database when those are not enough. */
  async read(workspaceId: string, after: LogPosition, { enough, isShared }: PageOptions): Promise<LogPage> {
    const kept = this.kept.get(workspaceId);
    const known = kept && covers(kept, after) ? kept.entries.slice(countUpTo(kept, after)) : [];
    // Only the database knows whether there are more, so the page reports more.
    if (known.length >= Math.min(enough, PAGE_SIZE)) return firstPageOf(known);
    const end = known.at(-1)?.position ?? after;
    const page = await this.readBehind(workspaceId, end);
    const entries = [...known, ...page.entries];
    if (isShared) this.keepForAll(workspaceId, { after: end, entries: page.entries });
    // A lone destination comes back only for the entries that it leaves.
    else if (entries.length > enough) this.keep(workspaceId, { after, entries });
    return entries.length > PAGE_SIZE ? firstPageOf(entries) : { ...page, entries };
  }

  private readBehind(workspaceId: string, end: LogPosition): Promise<LogPage> {
    const key = `${workspaceId}:${end.transaction}:${end.ordinal}`;
    const pending = this.pending.get(key);
    if (pending) return pending;
    const page = this.query(key, workspaceId, end);
    this.pending.set(key, page);
    return page;
  }

  private async query(key: string, workspaceId: string, end: LogPosition): Promise<LogPage> {
    // Callers share the statement until it is sent. Later ones must see entries that commit after that.
    await nextTurn();
    this.pending.delete(key);
    return this.reader.readAfter(workspaceId, end, reachOfLog(this.clock.now()), PAGE_SIZE);
  }

  /** Extends the cached range, or replaces it when the new one reaches further. Late readers are mostly alone. */
  private keepForAll(workspaceId: string, read: LogRange): void {
    const kept = this.kept.get(workspaceId);
    if (read.entries.length === 0 || (kept && !isBehind(endOf(read), endOf(kept)))) return;
    const whole =
      kept && covers(kept, read.after)
        ? { ...kept, entries: [...kept.entries.slice(0, countUpTo(kept, read.after)), ...read.entries] }
        : read;
    this.keep(workspaceId, whole);
  }

  /** Keeps as much of the end as the bound allows. */
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

/** Whether the range has every entry that follows the position. */
function covers(range: LogRange, position: LogPosition): boolean {
  return !isBehind(range.after, position) && !isBehind(position, endOf(range));
}

/** The number of entries up to a position. Positions are mostly near the end. */
function countUpTo({ entries }: LogRange, end: LogPosition): number {
  return entries.findLastIndex(({ position }) => !isBehind(position, end)) + 1;
}
