// Destinations share reads, and each receives every entry exactly once.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { isBehind } from '../../domain/destinations/delivery.js';
import type { LogPosition } from '../../domain/destinations/delivery.js';
import type {
  GenerationReader,
  LogPage,
  LoggedGeneration,
} from '../../persistence/generations/generation-reader.js';
import { TestClock } from '../../../test/support/app/clock.js';
import { LogTail } from './log-tail.js';

const START: LogPosition = { transaction: 0n, ordinal: 0 };
const PAGE_SIZE = 500;
// More than is cached for a workspace.
const BEFORE = 3_000;

/** A log in memory, with the reads of the one in the database. */
class Log {
  readonly entries: LoggedGeneration[] = [];
  /** The number of entries that each statement has read. */
  readonly reads: number[] = [];
  readonly pages: LogTail;
  isHeldBack = false;

  constructor(private readonly traceLength = 0) {
    const reader: Pick<GenerationReader, 'readAfter'> = {
      readAfter: async (_workspaceId, after, _since, limit) => this.readAfter(after, limit),
    };
    this.pages = new LogTail(reader as GenerationReader, new TestClock());
  }

  /** Appends entries of one transaction. */
  append(count: number): void {
    const transaction = (this.entries.at(-1)?.position.transaction ?? 0n) + 1n;
    for (let ordinal = 1; ordinal <= count; ordinal++)
      this.entries.push({
        position: { transaction, ordinal },
        traceLength: this.traceLength,
      } as LoggedGeneration);
  }

  behind(after: LogPosition): LoggedGeneration[] {
    return this.entries.filter(({ position }) => isBehind(position, after));
  }

  private readAfter(after: LogPosition, limit: number): LogPage {
    const entries = this.behind(after).slice(0, limit);
    this.reads.push(entries.length);
    return { entries, isHeldBack: this.isHeldBack, hasMore: !this.isHeldBack && entries.length === limit };
  }
}

/** One of the destinations of a workspace. */
class Reader {
  position: LogPosition;

  constructor(
    private readonly log: Log,
    last: Pick<LoggedGeneration, 'position'> = { position: START },
    private readonly isShared = true,
  ) {
    this.position = last.position;
  }

  /** Moves behind the whole page, or behind the entries that it takes. */
  async read(enough = PAGE_SIZE, taken = PAGE_SIZE): Promise<LogPage> {
    const page = await this.log.pages.read('workspace', this.position, { enough, isShared: this.isShared });
    this.position = page.entries.slice(0, taken).at(-1)?.position ?? this.position;
    return page;
  }
}

describe('the pages of the log', () => {
  it('join cached entries and newer ones, and read each entry once', async () => {
    const log = new Log();
    const [first, second, third] = [new Reader(log), new Reader(log), new Reader(log)];
    log.append(70);
    await first.read();
    log.append(30);
    expect((await second.read()).entries).toEqual(log.entries);
    log.append(5);
    expect((await third.read()).entries).toEqual(log.entries);
    expect(await first.read()).toEqual({ entries: log.entries.slice(70), isHeldBack: false, hasMore: false });
    expect(log.reads).toEqual([70, 30, 5, 0]);
  });

  it('need no query when enough entries are cached', async () => {
    const log = new Log();
    const [first, second] = [new Reader(log), new Reader(log)];
    log.append(100);
    await first.read();
    expect(await second.read(100)).toEqual({ entries: log.entries, isHeldBack: false, hasMore: true });
    expect(log.reads).toEqual([100]);
  });

  it('are read once for concurrent readers at any position', async () => {
    const log = new Log();
    const [first, second] = [new Reader(log), new Reader(log)];
    log.append(10);
    await first.read();
    log.append(10);
    const pages = await Promise.all([first.read(), second.read(), second.read()]);
    expect(pages.map(({ entries }) => entries.length)).toEqual([10, 20, 20]);
    expect(log.reads).toEqual([10, 10]);
  });

  it('report held-back entries behind cached ones as well', async () => {
    const log = new Log();
    const [first, second] = [new Reader(log), new Reader(log)];
    log.append(10);
    await first.read();
    log.isHeldBack = true;
    expect(await second.read()).toEqual({ entries: log.entries, isHeldBack: true, hasMore: false });
  });

  it('stay at the position of most readers when one is late', async () => {
    const log = new Log();
    log.append(PAGE_SIZE);
    log.append(300);
    await new Reader(log, log.entries[PAGE_SIZE - 1]).read();
    await new Reader(log).read();
    log.reads.length = 0;
    expect((await new Reader(log, log.entries.at(-201)).read(200)).entries).toEqual(log.entries.slice(-200));
    expect(log.reads).toEqual([]);
  });

  it('follow the reader that is furthest', async () => {
    const log = new Log();
    log.append(100);
    await new Reader(log).read();
    log.append(400);
    log.append(10);
    await new Reader(log, log.entries.at(-11)).read();
    expect((await new Reader(log, log.entries.at(-6)).read(5)).entries).toEqual(log.entries.slice(-5));
    expect(log.reads).toEqual([100, 10]);
  });

  it('are read once by a lone destination as well, batch by batch', async () => {
    const log = new Log();
    const only = new Reader(log, undefined, false);
    log.append(1_130);
    const batches: LoggedGeneration[] = [];
    let page: LogPage;
    do {
      page = await only.read(100, 100);
      batches.push(...page.entries.slice(0, 100));
    } while (page.hasMore || page.entries.length > 100);
    expect(batches).toEqual(log.entries);
    expect(log.reads).toEqual([500, 500, 130, 0]);
  });

  it('are not cached after a lone destination has taken all entries', async () => {
    const log = new Log();
    log.append(10);
    await new Reader(log, undefined, false).read(10);
    expect((await new Reader(log, undefined, false).read(10)).entries).toEqual(log.entries);
    expect(log.reads).toEqual([10, 10]);
  });

  it.each([true, false])('are cached up to the bound on callers’ texts (shared: %s)', async (isShared) => {
    const log = new Log(16_000);
    log.append(PAGE_SIZE);
    await new Reader(log, undefined, isShared).read(1, 1);
    log.reads.length = 0;
    await new Reader(log, log.entries.at(-61), isShared).read(60, 1);
    expect(log.reads).toEqual([]);
    await new Reader(log, log.entries.at(-91), isShared).read(60, 1);
    expect(log.reads).toEqual([90]);
  });

  it('have no gap and no duplicate in any interleaving of readers', async () => {
    const step = fc.oneof(
      fc.record({ appended: fc.integer({ min: 1, max: 900 }) }),
      fc.record({
        readers: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 4 }),
        enough: fc.constantFrom(1, 100, 500, 5_000),
        taken: fc.constantFrom(1, 60, PAGE_SIZE),
      }),
    );
    const cursors = fc.array(fc.tuple(fc.nat({ max: BEFORE - 1 }), fc.boolean()), {
      minLength: 4,
      maxLength: 4,
    });
    const property = fc.asyncProperty(
      cursors,
      fc.array(step, { size: 'max', maxLength: 30 }),
      async (from, steps) => {
        const log = new Log();
        log.append(BEFORE);
        const readers = from.map(([index, isShared]) => new Reader(log, log.entries[index], isShared));
        for (const each of steps) {
          if ('appended' in each) {
            log.append(each.appended);
            continue;
          }
          await Promise.all(
            [...new Set(each.readers)].map(async (index) => {
              const reader = readers[index] as Reader;
              const behind = log.behind(reader.position);
              const { entries, hasMore } = await reader.read(each.enough, each.taken);
              const known = behind.slice(0, entries.length);
              expect(entries.every((entry, nth) => entry === known[nth])).toBe(true);
              expect(entries.length).toBeGreaterThanOrEqual(Math.min(each.enough, behind.length, PAGE_SIZE));
              expect(entries.length).toBeLessThanOrEqual(PAGE_SIZE);
              if (!hasMore) expect(entries).toHaveLength(behind.length);
            }),
          );
        }
      },
    );
    await fc.assert(property, { seed: 20_261_126, numRuns: 100 });
  });
});
