// Pages of the log for all destinations of a workspace: what one of them has read is there for the others.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../domain/clock.js';
import { MAX_DELIVERY_AGE, isBehind } from '../domain/delivery.js';
import type { LogPosition } from '../domain/delivery.js';
import { GenerationReader } from '../persistence/generation-reader.js';
import type { LogPage } from '../persistence/generation-reader.js';

const PAGE_SIZE = 500;
// Older partitions need not be looked into: what is older by this many milliseconds has expired for everyone.
const REACH = MAX_DELIVERY_AGE + 2 * 3_600_000;
// The last page of each workspace, for a while (milliseconds): its entries never change.
const KEPT_PAGES = 32;
const KEPT_FOR = 2_000;

interface KeptPage {
  readonly after: LogPosition;
  readonly entries: LogPage['entries'];
}

/** The moment before which nothing is read. */
export function reachOfLog(now: Date): Date {
  return new Date(now.getTime() - REACH);
}

@Injectable()
export class LogPages {
  private readonly asked = new Map<string, Promise<LogPage>>();
  private readonly kept = new LRUCache<string, KeptPage>({ max: KEPT_PAGES, ttl: KEPT_FOR });

  constructor(
    private readonly reader: GenerationReader,
    private readonly clock: Clock,
  ) {}

  read(workspaceId: string, after: LogPosition): Promise<LogPage> {
    const kept = this.kept.get(workspaceId);
    const entries = kept ? entriesBehind(kept, after) : [];
    // Whether there is more behind a kept page only the database can tell, once these are done.
    if (entries.length > 0) return Promise.resolve({ entries, isHeldBack: false, hasMore: true });
    const key = `${workspaceId}:${after.transaction}:${after.ordinal}`;
    const asked = this.asked.get(key);
    if (asked) return asked;
    const page = this.ask(key, workspaceId, after);
    this.asked.set(key, page);
    return page;
  }

  private async ask(key: string, workspaceId: string, after: LogPosition): Promise<LogPage> {
    // Whoever asks until the statement leaves shares its answer; later ones must see what was committed meanwhile.
    await nextTurn();
    this.asked.delete(key);
    const page = await this.reader.readAfter(workspaceId, after, reachOfLog(this.clock.now()), PAGE_SIZE);
    if (page.entries.length > 0) this.kept.set(workspaceId, { after, entries: page.entries });
    return page;
  }
}

/** None when the page begins behind `after`: something may be missing in between. */
function entriesBehind({ after: start, entries }: KeptPage, after: LogPosition): LogPage['entries'] {
  if (isBehind(start, after)) return [];
  const first = entries.findIndex(({ position }) => isBehind(position, after));
  return first === -1 ? [] : entries.slice(first);
}
