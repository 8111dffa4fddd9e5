// Creates partitions of the log ahead of time, and keeps the default partition empty.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { RepeatedTask } from '../concurrency/repeated-task.js';
import { Metrics } from '../config/metrics.js';
import { Clock } from '../domain/clock.js';
import { Database } from '../persistence/database/database.js';
import {
  COUNT_DAYS_AHEAD,
  ENSURE_PARTITIONS,
  LOG_TABLES,
  MOVE_DEFAULT_ROWS,
} from '../persistence/generations/log-partition-statements.js';

const EVERY_HOUR = 3_600_000;
// Rows that one transaction moves: readers of the log wait for all older transactions.
const STEP = 20_000;
// Rows beyond this number of steps wait for the next hour.
const MAX_STEPS = 200;

@Injectable()
export class Partitions implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Partitions.name);
  private readonly daysAhead: Gauge;
  private readonly movedRows: Counter;
  private readonly creation = RepeatedTask.every(EVERY_HOUR, () => this.ensure());
  private readonly move = RepeatedTask.every(EVERY_HOUR, () => this.emptyDefault());

  constructor(
    { registry }: Metrics,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    const registers = [registry];
    this.daysAhead = new Gauge({
      name: 'signalbox_log_days_ahead',
      help: 'Following UTC days for which the generation log has partitions, 4 at most, as of the last hour.',
      registers,
      aggregator: 'min',
    });
    this.movedRows = new Counter({
      name: 'signalbox_log_default_rows_moved_total',
      help: 'Rows that were written to the default partition of the generation log and moved to partitions of their own.',
      registers,
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.ensure();
    this.creation.start(EVERY_HOUR);
    this.move.start(0);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.creation.stop(), this.move.stop()]);
  }

  /** Never fails: rows without a partition go to the default one, and the next hour retries. */
  async ensure(): Promise<void> {
    const now = this.clock.now();
    try {
      await this.database.query({ text: ENSURE_PARTITIONS, values: [now] });
      const [row] = await this.database.query<{ days: number }>({ text: COUNT_DAYS_AHEAD, values: [now] });
      if (row) this.daysAhead.set(row.days);
    } catch (error) {
      this.logger.warn({ error }, 'failed to create partitions; will retry in an hour');
    }
  }

  /** Moves rows from the default partition to partitions of their own, in steps. Never fails: see ensure(). */
  async emptyDefault(step = STEP): Promise<void> {
    for (const table of LOG_TABLES) {
      try {
        let total = 0;
        for (let taken = 0; taken < MAX_STEPS && !this.move.isStopping; taken++) {
          const [row] = await this.database.query<{ moved: number }>({
            text: MOVE_DEFAULT_ROWS,
            values: [table, step],
          });
          if (!row || row.moved === 0) break;
          total += row.moved;
        }
        if (total === 0) continue;
        this.movedRows.inc(total);
        this.logger.log({ table, rows: total }, 'moved rows of the default partition to their own');
      } catch (error) {
        this.logger.warn(
          { table, error },
          'failed to move rows of the default partition; will retry in an hour',
        );
      }
    }
  }
}
