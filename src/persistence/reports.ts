// Statements that read many generations at once: few at a time, each with a time-out in the database, so that reports
// never take the connections or the time of calls.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { AppError } from '../domain/errors.js';
import { Database } from './database.js';
import type { Run } from './database.js';

// Milliseconds.
const STATEMENT_TIMEOUT = 5_000;
const MAX_AT_ONCE = 2;
const MAX_WAITING = 20;

@Injectable()
export class Reports {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly database: Database) {}

  /** Throws `operation_timeout` when it takes too long, `unavailable` when too many are waiting already. */
  async read<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<Row[]> {
    return this.readTogether((run) => run<Row>(statement));
  }

  /** The same for statements that have to see the same state of the log. */
  async readTogether<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    await this.enter();
    try {
      return await this.database.readWithin(STATEMENT_TIMEOUT, work);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'operation_timeout') throw error;
      throw new AppError('operation_timeout', {
        detail: 'there is too much to read; ask for a shorter time or fewer workspaces',
        cause: error,
      });
    } finally {
      this.leave();
    }
  }

  private async enter(): Promise<void> {
    if (this.running < MAX_AT_ONCE) {
      this.running += 1;
      return;
    }
    if (this.waiting.length >= MAX_WAITING) {
      throw new AppError('unavailable', {
        detail: 'too many reports are being made',
        headers: { 'Retry-After': '5' },
      });
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Whoever waits takes the place over. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.running -= 1;
  }
}
