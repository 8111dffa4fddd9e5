// Statements that may read many rows: few at a time, each with a time-out in the database, so that reports never take
// connections or time from calls. Accounts share them fairly. A report waits for at most one report of another
// account, and never fails because of one.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { AppError } from '../../domain/errors.js';
import { FairBulkhead } from '../../concurrency/fair-bulkhead.js';
import { Database } from './database.js';
import type { Run } from './database.js';

// Milliseconds.
const STATEMENT_TIMEOUT = 5_000;
// An account runs one of the two reports at a time; its other reports wait in its own queue.
const LIMITS = { permits: 2, reserved: 1, maxWaiting: 10 };

@Injectable()
export class Reports {
  private readonly bulkhead = new FairBulkhead(
    LIMITS,
    () =>
      new AppError('unavailable', {
        detail: `${LIMITS.maxWaiting} reports of the account are already waiting`,
        headers: { 'Retry-After': '5' },
      }),
  );

  constructor(private readonly database: Database) {}

  /**
   * For the account. Throws `operation_timeout` when it takes too long, `unavailable` when too many reports of the
   * account are waiting.
   */
  async read<Row extends pg.QueryResultRow>(accountId: string, statement: pg.QueryConfig): Promise<Row[]> {
    return this.readTogether(accountId, (run) => run<Row>(statement));
  }

  /** The same for statements that need one snapshot of the log. */
  async readTogether<Result>(accountId: string, work: (run: Run) => Promise<Result>): Promise<Result> {
    try {
      return await this.bulkhead.run(accountId, () => this.database.readWithin(STATEMENT_TIMEOUT, work));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'operation_timeout') throw error;
      throw new AppError('operation_timeout', {
        detail: 'there is too much to read; narrow the request, such as its time, workspaces or filters',
        cause: error,
      });
    }
  }
}
