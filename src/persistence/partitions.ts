// Keeps the log's partitions ahead of the calendar.
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { Database } from './database.js';

const EVERY_HOUR = 3_600_000;

@Injectable()
export class Partitions implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(Partitions.name);
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.ensure();
    this.timer = setInterval(() => void this.ensure(), EVERY_HOUR);
    this.timer.unref();
  }

  onApplicationShutdown(): void {
    if (this.timer) clearInterval(this.timer);
  }

  /** Never fails: what finds no partition goes to the default one, and the next hour tries again. */
  async ensure(): Promise<void> {
    try {
      await this.database.query({ text: 'SELECT ensure_time_partitions($1)', values: [this.clock.now()] });
    } catch (error) {
      this.logger.warn(
        { error },
        'the partitions of the coming months could not be made; trying again in an hour',
      );
    }
  }
}
