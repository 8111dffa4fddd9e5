// Lists generations newest first. However rare the wanted ones are, a page is answered after a bounded time: it then states until
// when it has searched.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import type {
  GenerationFilter,
  GenerationPage,
  ListPosition,
} from '../../domain/generations/generation-list.js';
import type { Generation } from '../../domain/generations/generation.js';
import { utcDay } from '../../domain/spend/spend.js';
import { ACTIVITY_SUMMED_DAYS } from '../activity/activity-statements.js';
import { Database } from '../database/database.js';
import type { HistoryState } from '../history/history.js';
import { History } from '../history/history.js';
import {
  DAYS_OF_KEY,
  DAYS_OF_WORKSPACE,
  FIRST_UNSUMMED,
  isRare,
  MAX_DAYS,
  readEndOfWalk,
  readWalk,
} from './generation-list-statements.js';
import { toGeneration } from './generation-row.js';
import type { GenerationRow } from './generation-row.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// Milliseconds after which a page that goes from day to day begins no further walk.
const PATIENCE = 100;
// Milliseconds after which a page searches no further range of the history. A statement there has five seconds.
const HISTORY_PATIENCE = 1_000;
// Milliseconds in addition to the deadline of a call, at whose end its row is committed: far more than the clocks of
// processes differ.
const COMMIT_DELAY = 10 * MINUTE;
// Days before the start of a search at which its ranges end. A range names few partitions, and the first ones are
// mostly enough; without bounds a page would plan for every partition of the log, and the history would read all of the
// workspace's older calls.
const RANGES = [1, 7, 31, 127];
// Before every id of its moment.
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LONG_AGO = new Date(0);

/** Ranges of time to search, newest first, and the end of those that are known. */
interface Ranges {
  readonly ranges: readonly { readonly from: Date | undefined; readonly before: ListPosition }[];
  /** Where further ranges may begin; null: there are none. */
  readonly rest: ListPosition | null;
  /** Milliseconds after which a page begins no further walk. */
  readonly patience: number;
}

interface Asked {
  readonly filter: GenerationFilter;
  readonly after: ListPosition | null;
  readonly limit: number;
}

const NONE: GenerationPage = { generations: [], next: null, searchedUntil: null };

type ListedRow = Omit<GenerationRow, 'trace' | 'requestContext'>;

@Injectable()
export class GenerationListRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly config: AppConfig,
    private readonly history: History,
  ) {}

  /** `after` is the `next` of the previous page. The history continues where the log begins. */
  async list(filter: GenerationFilter, after: ListPosition | null, limit: number): Promise<GenerationPage> {
    if (filter.apiKeyIds?.length === 0) return NONE;
    return this.history.withState((state) =>
      state === null
        ? this.listLog(filter, after, limit)
        : this.listWithHistory({ filter, after, limit }, state),
    );
  }

  /** Null: the log has lost rows since the state was read. */
  private async listWithHistory(
    { filter, after, limit }: Asked,
    state: HistoryState,
  ): Promise<GenerationPage | null> {
    const begin = state.droppedBefore;
    const start = this.startOf(filter, after);
    const isBeyond =
      begin !== null && (start.createdAt < begin || (start.createdAt <= begin && start.id === FIRST_ID));
    let page = NONE;
    if (!isBeyond) {
      const from = begin === null ? filter.from : latest(filter.from, begin);
      page = await this.listLog({ ...filter, from }, after, limit);
      if (!(await this.history.isBegin(begin))) return null;
    }
    const isWithinLog = begin === null || (filter.from !== undefined && filter.from >= begin);
    if (isWithinLog || page.next !== null) return page;
    const before = isBeyond ? start : { createdAt: begin, id: FIRST_ID };
    return this.listHistory({ filter, after: before, limit }, page.generations, state);
  }

  /** The rest of the page, after the generations of the log. */
  private async listHistory(
    { filter, after, limit }: Asked & { readonly after: ListPosition },
    ofLog: readonly Generation[],
    state: HistoryState,
  ): Promise<GenerationPage> {
    const startedAt = performance.now();
    const found = [...ofLog];
    for (const [index, { from, before }] of growingRanges(filter.from, after).entries()) {
      const isLate = performance.now() - startedAt > HISTORY_PATIENCE;
      if (isLate && index > 0) return searchedUntil(found, before);
      try {
        const missing = limit + 1 - found.length;
        found.push(...(await this.history.list({ ...filter, from }, before, state, missing)));
      } catch (error) {
        // The next page reports the failure, or succeeds with shorter ranges.
        const hasProgress = found.length > 0 || index > 0;
        if (hasProgress && error instanceof AppError) return searchedUntil(found, before);
        throw error;
      }
      if (found.length > limit) return fullPage(found, limit);
    }
    return { generations: found, next: null, searchedUntil: null };
  }

  private async listLog(
    filter: GenerationFilter,
    after: ListPosition | null,
    limit: number,
  ): Promise<GenerationPage> {
    const startedAt = performance.now();
    const { ranges, rest, patience } = await this.rangesOf(filter, this.startOf(filter, after));
    const found: Generation[] = [];
    for (const [index, range] of ranges.entries()) {
      const walk = { filter, ...range };
      // One more shows whether there is a next page.
      const rows = await this.database.query<ListedRow & Record<string, unknown>>(
        readWalk(walk, limit + 1 - found.length),
      );
      found.push(...rows.map((row) => toGeneration({ ...row, trace: null, requestContext: null })));
      if (found.length > limit) return fullPage(found, limit);
      const [end] = await this.database.query<{ createdAt: Date }>(readEndOfWalk(walk));
      if (end) return searchedUntil(found, afterMoment(end.createdAt));
      const isLate = performance.now() - startedAt > patience && index < ranges.length - 1;
      if (isLate && range.from) return searchedUntil(found, { createdAt: range.from, id: FIRST_ID });
    }
    return rest === null
      ? { generations: found, next: null, searchedUntil: null }
      : searchedUntil(found, rest);
  }

  private startOf({ to }: GenerationFilter, after: ListPosition | null): ListPosition {
    if (after !== null && (to === undefined || after.createdAt < to)) return after;
    // Clocks of other processes may be ahead.
    return { createdAt: to ?? new Date(this.clock.now().getTime() + HOUR), id: FIRST_ID };
  }

  /** All of the time, or the days that have generations of the key, model or provider. */
  private async rangesOf(filter: GenerationFilter, before: ListPosition): Promise<Ranges> {
    const { apiKeyIds, model, provider, from } = filter;
    const isByDays = apiKeyIds !== undefined || model !== undefined || provider !== undefined;
    if (!isByDays || isRare(filter)) {
      // So few that a page always finishes them.
      return { ranges: growingRanges(from, before), rest: null, patience: Infinity };
    }
    const summed = await this.startOfUnsummed(filter.workspaceId);
    const ranges = [];
    if (before.createdAt > summed) ranges.push({ from: latest(from, summed), before });
    const bound = before.createdAt > summed ? { createdAt: summed, id: FIRST_ID } : before;
    const lastDay = new Date(bound.createdAt.getTime() - (bound.id === FIRST_ID ? 1 : 0));
    const days = await this.database.query<{ day: string }>({
      text: apiKeyIds === undefined ? DAYS_OF_WORKSPACE : DAYS_OF_KEY,
      values: [
        filter.workspaceId,
        apiKeyIds ?? null,
        model ?? null,
        provider ?? null,
        utcDay(lastDay),
        utcDay(from ?? LONG_AGO),
      ],
    });
    for (const { day } of days) {
      const begin = new Date(`${day}T00:00:00Z`);
      const end = new Date(begin.getTime() + DAY);
      const isCut = end > bound.createdAt;
      ranges.push({ from: latest(from, begin), before: isCut ? bound : { createdAt: end, id: FIRST_ID } });
    }
    const oldest = days.length === MAX_DAYS ? days.at(-1) : undefined;
    const rest = oldest && { createdAt: new Date(`${oldest.day}T00:00:00Z`), id: FIRST_ID };
    return { ranges, rest: rest ?? null, patience: PATIENCE };
  }

  /** The rollup has summed every row of an earlier time. */
  private async startOfUnsummed(workspaceId: string): Promise<Date> {
    const [first] = await this.database.query<{ createdAt: Date }>({
      name: 'first-unsummed',
      text: FIRST_UNSUMMED,
      values: [workspaceId, new Date(this.clock.now().getTime() - ACTIVITY_SUMMED_DAYS * DAY)],
    });
    const now = this.clock.now().getTime();
    const moment = Math.min(first?.createdAt.getTime() ?? now, now);
    return new Date(moment - this.config.operationDeadline - COMMIT_DELAY);
  }
}

/** `found` has more than the page. */
function fullPage(found: readonly Generation[], limit: number): GenerationPage {
  const generations = found.slice(0, limit);
  return { generations, next: generations.at(-1) ?? null, searchedUntil: null };
}

/** Older matches are left to the next page: rows that were committed during the search may have moved the end of a walk. */
function searchedUntil(found: readonly Generation[], end: ListPosition): GenerationPage {
  const generations = found.filter(({ createdAt }) => createdAt >= end.createdAt);
  return { generations, next: end, searchedUntil: end.createdAt };
}

/**
 * The end of a walk in a cursor: the call itself may be out of reach, and its id stays out. The next page reads its millisecond again,
 * which has far fewer calls than a walk.
 */
function afterMoment(moment: Date): ListPosition {
  return { createdAt: new Date(moment.getTime() + 1), id: FIRST_ID };
}

/** Adjacent ranges, each several times as long as the one before, until `from` or without an end. */
function growingRanges(from: Date | undefined, before: ListPosition): Ranges['ranges'] {
  const midnight = Math.floor(before.createdAt.getTime() / DAY) * DAY;
  const ranges = [];
  let end = before;
  for (const days of RANGES) {
    const begin = new Date(midnight - days * DAY);
    if (from !== undefined && begin <= from) break;
    ranges.push({ from: begin, before: end });
    end = { createdAt: begin, id: FIRST_ID };
  }
  return [...ranges, { from, before: end }];
}

function latest(one: Date | undefined, other: Date): Date {
  return one !== undefined && one > other ? one : other;
}
