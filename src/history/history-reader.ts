// Reads the history for the operations that reach beyond the log. Accounts share its statements fairly, and while the server
// is away they fail at once.
import { Injectable, Logger } from '@nestjs/common';
import { FairBulkhead } from '../concurrency/fair-bulkhead.js';
import { AppConfig } from '../config/app-config.js';
import { AppError } from '../domain/errors.js';
import type { AnalyticsQuery } from '../domain/generations/analytics.js';
import { ClickhouseClient, HistoryFailure } from './clickhouse-client.js';
import type { HistoryStatement } from './clickhouse-client.js';
import type { Generation } from '../domain/generations/generation.js';
import type { GenerationContent } from '../domain/generations/generation-content.js';
import type { GenerationFilter, ListPosition } from '../domain/generations/generation-list.js';
import type {
  HistoryRows,
  TimeSpan,
  HistoryState,
  WantedGeneration,
  LatencyGroups,
} from '../persistence/history/history.js';
import type { Run } from '../persistence/database/database.js';
import { History } from '../persistence/history/history.js';
import { HistoryCopyRepository } from '../persistence/history/history-copy.repository.js';
import {
  findContent,
  findGeneration,
  readContent,
  readGeneration,
  readGenerations,
} from './history-generations.js';
import { MAX_ROWS, readSums } from './history-statements.js';

const LIMITS = { permits: 4, reserved: 1, maxWaiting: 10 };
// Milliseconds in which no statement is sent after one has found the server away.
const PAUSE = 2_000;
const RETRY = { 'Retry-After': '10' };

@Injectable()
export class HistoryReader extends History {
  private readonly logger = new Logger(HistoryReader.name);
  private readonly bulkhead = new FairBulkhead(
    LIMITS,
    () =>
      new AppError('unavailable', {
        detail: `${LIMITS.maxWaiting} queries of the account already wait for the history`,
        headers: { 'Retry-After': '5' },
      }),
  );
  private pausedUntil = 0;

  override readonly hasContents: boolean;

  constructor(
    private readonly server: ClickhouseClient,
    private readonly copies: HistoryCopyRepository,
    { history }: AppConfig,
  ) {
    super();
    this.hasContents = history?.hasContents === true;
  }

  /** The progress of the copy, and the beginning of the log. Null: no history is kept. */
  async state(): Promise<HistoryState | null> {
    return this.server.database === null ? null : this.copies.readState();
  }

  override async withState<Result>(
    work: (state: HistoryState | null) => Promise<Result | null>,
  ): Promise<Result> {
    for (;;) {
      const result = await work(await this.state());
      if (result !== null) return result;
    }
  }

  override async isBegin(begin: Date | null, run?: Run): Promise<boolean> {
    const { droppedBefore } = await this.copies.readState(run);
    return droppedBefore?.getTime() === begin?.getTime();
  }

  override async sums(
    query: AnalyticsQuery,
    spans: readonly TimeSpan[],
    { cursor, droppedBefore }: HistoryState,
    latencies: LatencyGroups,
  ): Promise<HistoryRows> {
    if (cursor === null) throw isNotComplete(droppedBefore);
    const text = await this.read(query.accountId, droppedBefore, tooMuch, (database) =>
      readSums(database, query, { spans, cursor, latencies }),
    );
    const lines = linesOf(text);
    if (lines.length > MAX_ROWS) throw tooMuch();
    return { json: `[${lines.join(',')}]`, cursor };
  }

  override async list(
    filter: GenerationFilter,
    before: ListPosition,
    { droppedBefore }: HistoryState,
    limit: number,
  ): Promise<readonly Generation[]> {
    const text = await this.read(filter.workspaceId, droppedBefore, isSlow, (database) =>
      readGenerations(database, filter, before, limit),
    );
    return linesOf(text).map(readGeneration);
  }

  override async find(wanted: WantedGeneration): Promise<Generation | null> {
    const state = await this.state();
    const droppedBefore = state?.droppedBefore ?? null;
    if (droppedBefore === null || wanted.createdAt >= droppedBefore) return null;
    const reach = await wanted.readReach();
    const text = await this.read(wanted.accountId, droppedBefore, isSlow, (database) =>
      findGeneration(database, reach, wanted),
    );
    const [line] = linesOf(text);
    return line === undefined ? null : readGeneration(line);
  }

  override async findContent(generation: Generation): Promise<GenerationContent | null> {
    if (!this.hasContents) return null;
    const text = await this.read(generation.accountId, null, isSlow, (database) =>
      findContent(database, generation),
    );
    const [line] = linesOf(text);
    return line === undefined ? null : readContent(line);
  }

  private async read(
    tenant: string,
    droppedBefore: Date | null,
    excess: (cause: unknown) => AppError,
    write: (database: string) => HistoryStatement,
  ): Promise<string> {
    const { database } = this.server;
    if (database === null || performance.now() < this.pausedUntil) throw isAway(droppedBefore);
    try {
      return await this.bulkhead.run(tenant, () => this.server.query(write(database)));
    } catch (error) {
      if (!(error instanceof HistoryFailure)) throw error;
      if (error.reason === 'too_much') throw excess(error);
      this.logger.warn({ error }, 'failed to read the history');
      // One statement that the server rejects says nothing about those of other accounts.
      if (error.reason === 'failed') throw isRejected(droppedBefore, error);
      this.pausedUntil = performance.now() + PAUSE;
      throw isAway(droppedBefore, error);
    }
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

const since = (droppedBefore: Date | null): string =>
  droppedBefore === null ? '' : `; calls since ${droppedBefore.toISOString()} are available`;

function isAway(droppedBefore: Date | null, cause?: unknown): AppError {
  const detail = `the history cannot be reached${since(droppedBefore)}`;
  return new AppError('unavailable', { detail, headers: RETRY, cause });
}

function isRejected(droppedBefore: Date | null, cause: unknown): AppError {
  const detail = `the history cannot answer this${since(droppedBefore)}`;
  return new AppError('unavailable', { detail, headers: RETRY, cause });
}

function isNotComplete(droppedBefore: Date | null): AppError {
  const detail = `the history is being filled for the first time${since(droppedBefore)}`;
  return new AppError('unavailable', { detail, headers: RETRY });
}

/** Lists and single generations have no status for a time-out. */
function isSlow(cause: unknown): AppError {
  const detail = 'the history took too long; narrow the search by from and to';
  return new AppError('unavailable', { detail, headers: RETRY, cause });
}

function tooMuch(cause?: unknown): AppError {
  const detail = 'there is too much to read; ask for a shorter time or fewer groups';
  return new AppError('operation_timeout', { detail, cause });
}
