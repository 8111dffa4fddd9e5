// Creates partitions of the log ahead of time, and keeps the default partition empty.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { Database } from '../database/database.js';

const EVERY_HOUR = 3_600_000;
// Rows that one transaction moves: readers of the log wait for all older transactions.
const STEP = 20_000;
// Rows beyond this number of steps wait for the next hour.
const MAX_STEPS = 200;
const TABLES = [
  ['generations', 'month'],
  ['generation_contents', 'day'],
] as const;

@Injectable()
export class Partitions implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Partitions.name);
  private timer: NodeJS.Timeout | null = null;
  private moving: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.ensure();
    this.moving = this.emptyDefault();
    this.timer = setInterval(() => {
      void this.ensure();
      this.moving = this.moving.then(() => this.emptyDefault());
    }, EVERY_HOUR);
    this.timer.unref();
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    if (this.timer) clearInterval(this.timer);
    await this.moving;
  }

  /** Never fails: rows without a partition go to the default one, and the next hour retries. */
  async ensure(): Promise<void> {
    try {
      await this.database.query({ text: 'SELECT ensure_time_partitions($1)', values: [this.clock.now()] });
    } catch (error) {
      this.logger.warn({ error }, 'failed to create partitions; will retry in an hour');
    }
  }

  /** Moves rows from the default partition to partitions of their own, in steps. Never fails: see ensure(). */
  async emptyDefault(step = STEP): Promise<void> {
    for (const [table, unit] of TABLES) {
      try {
        let total = 0;
        for (let taken = 0; taken < MAX_STEPS && !this.isStopped; taken++) {
          const [row] = await this.database.query<{ moved: number }>({
            text: 'SELECT move_default_rows($1, $2, $3) AS moved',
            values: [table, unit, step],
          });
          if (!row || row.moved === 0) break;
          total += row.moved;
        }
        if (total > 0)
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
