// Drops partitions of the log beyond their retention. One process does it at a time, whatever their number.
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { AppConfig } from '../config/app-config.js';
import { Metrics } from '../config/metrics.js';
import { Clock } from '../domain/clock.js';
import { REMOVE_ACTIVITY } from '../persistence/activity/activity-statements.js';
import { isLockTimeout } from '../persistence/database/database-errors.js';
import { Database } from '../persistence/database/database.js';
import { HistoryCopyRepository } from '../persistence/history/history-copy.repository.js';
import {
  DROP_PARTITION,
  FIND_READER,
  FOLD_SPEND_HISTORY,
  IS_TABLE_FREE,
  LIST_EXPIRED,
  LOG_TABLES,
  NOTE_RETENTION,
} from '../persistence/generations/log-partition-statements.js';
import type { LogTable } from '../persistence/generations/log-partition-statements.js';

const TEN_MINUTES = 600_000;
// Hours that a partition waits for its readers: beyond its retention, since the retention is that short, and since the copy
// of the history began.
const PATIENCE = 7 * 24;
// Hours beyond their retention after which the rows of contents have been removed one by one, and their bytes
// subtracted from the sums of the workspaces.
const REMOVED_BY_THEN = 24;
// Milliseconds.
const BETWEEN_ATTEMPTS = 200;
const LOCK_ATTEMPTS = 5;

interface ExpiredPartition {
  readonly partition: string;
  /** Since the retention has ended. */
  readonly hours: number;
}

interface PartitionReader {
  readonly reader: string | null;
  readonly hours: number;
}

type Outcome = 'dropped' | 'waits' | 'done elsewhere';

@Injectable()
export class LogRetention implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(LogRetention.name);
  /** In hours; null: for ever. */
  private readonly retention: Readonly<Record<LogTable, number | null>>;
  private readonly keepsHistory: boolean;
  private readonly droppedPartitions: Counter<'table'>;
  private readonly overdueSeconds: Gauge<'table'>;
  private readonly task = RepeatedTask.every(TEN_MINUTES, () => this.dropExpired());

  constructor(
    { retention, history }: AppConfig,
    { registry }: Metrics,
    private readonly database: Database,
    private readonly copies: HistoryCopyRepository,
    private readonly clock: Clock,
  ) {
    this.retention = {
      generations: retention.generationDays === 0 ? null : retention.generationDays * 24,
      generation_contents: retention.contentHours + REMOVED_BY_THEN,
    };
    this.keepsHistory = history !== undefined;
    const registers = [registry];
    this.droppedPartitions = new Counter({
      name: 'signalbox_log_partitions_dropped_total',
      help: 'Partitions of the generation log and of its contents that were dropped after their retention.',
      labelNames: ['table'],
      registers,
    });
    this.overdueSeconds = new Gauge({
      name: 'signalbox_log_retention_overdue_seconds',
      help: 'Time since the oldest partition should have been dropped: it waits for a reader of the log or for its lock.',
      labelNames: ['table'],
      registers,
      aggregator: 'max',
    });
  }

  onApplicationBootstrap(): void {
    this.task.start(0);
  }

  onApplicationShutdown(): Promise<void> {
    return this.task.stop();
  }

  /** Never fails: the next pass retries. */
  async dropExpired(): Promise<void> {
    for (const table of LOG_TABLES) {
      try {
        const hours = this.retention[table];
        await this.database.query({ text: NOTE_RETENTION, values: [table, this.clock.now(), hours ?? 0] });
        if (table === 'generations') await this.noteHistory();
        if (hours !== null) await this.dropExpiredOf(table, hours);
      } catch (error) {
        this.logger.warn({ table, error }, 'failed to drop partitions of the log; will retry');
      }
    }
  }

  /** The first pass of a copy may begin after this one, and reads the oldest days. */
  private noteHistory(): Promise<void> {
    return this.keepsHistory ? this.copies.register() : this.copies.forgetUnused();
  }

  private async dropExpiredOf(table: LogTable, retention: number): Promise<void> {
    const expired = await this.database.query<ExpiredPartition & Record<string, unknown>>({
      text: LIST_EXPIRED,
      values: [table, this.clock.now(), retention],
    });
    this.overdueSeconds.set({ table }, 0);
    let hasDropped = false;
    for (const one of expired) {
      if (this.task.isStopping) break;
      const outcome = await this.drop(table, one);
      if (outcome === 'waits') this.overdueSeconds.set({ table }, Math.max(1, Math.round(one.hours * 3_600)));
      if (outcome !== 'dropped') break;
      hasDropped = true;
    }
    if (hasDropped && table === 'generations') await this.removeSums();
  }

  /** The sums of days that the log no longer has. Many rows take longer than a statement of a call may. */
  private async removeSums(): Promise<void> {
    await this.database.withSession(async (session) => {
      await session.run(FOLD_SPEND_HISTORY);
      for (const text of REMOVE_ACTIVITY) await session.run(text, [this.clock.now()]);
    });
  }

  private async drop(table: LogTable, { partition, hours }: ExpiredPartition): Promise<Outcome> {
    const { reader, hours: hoursKnown } = await this.findReader(table, partition);
    if (reader !== null && Math.min(hours, hoursKnown) < PATIENCE) {
      this.logger.log(
        { partition, reader },
        'a partition beyond its retention waits for a reader of the log',
      );
      return 'waits';
    }
    if (!(await this.isFree(table))) return this.waitForLock(partition);
    try {
      // Summing up a large partition takes longer than a statement of a call may.
      const isDropped = await this.database.withSession(async (session) => {
        const [row] = await session.run<{ isDropped: boolean }>(DROP_PARTITION, [table, partition]);
        return row?.isDropped === true;
      });
      if (!isDropped) return 'done elsewhere';
    } catch (error) {
      if (isLockTimeout(error)) return this.waitForLock(partition);
      throw error;
    }
    this.droppedPartitions.inc({ table });
    if (reader === null) this.logger.log({ partition }, 'dropped a partition of the log after its retention');
    else
      this.logger.warn(
        { partition, reader },
        'dropped a partition of the log that a reader had not read within seven days',
      );
    return 'dropped';
  }

  /** Whether no statement has the table for long. */
  private async isFree(table: LogTable): Promise<boolean> {
    for (let attempt = 0; attempt < LOCK_ATTEMPTS && !this.task.isStopping; attempt++) {
      if (attempt > 0) await pause(BETWEEN_ATTEMPTS);
      const [row] = await this.database.query<{ isFree: boolean }>({
        text: IS_TABLE_FREE,
        values: [table],
      });
      if (row?.isFree === true) return true;
    }
    return false;
  }

  private waitForLock(partition: string): Outcome {
    this.logger.log(
      { partition },
      'a partition beyond its retention waits for a statement on the log to end',
    );
    return 'waits';
  }

  /** Contents have no readers: they go with the time that their destinations have. */
  private async findReader(table: LogTable, partition: string): Promise<PartitionReader> {
    if (table !== 'generations') return { reader: null, hours: 0 };
    const [found] = await this.database.query<PartitionReader & Record<string, unknown>>({
      text: FIND_READER,
      values: [table, this.clock.now(), partition],
    });
    if (!found) throw new Error('the retention of the log is not noted');
    return found;
  }
}
