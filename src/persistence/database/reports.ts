// Statements that read many generations at once: few at a time, each with a time-out in the database, so that reports
// never take the connections or the time of calls. Accounts share them fairly: reports of one account never make another's
// wait for more than one of them, or fail.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { AppError } from '../../domain/errors.js';
import { FairBulkhead } from '../../concurrency/fair-bulkhead.js';
import { Database } from './database.js';
import type { Run } from './database.js';

// Milliseconds.
const STATEMENT_TIMEOUT = 5_000;
// One account gets one of the two at a time, and its reports wait in a queue of its own.
const LIMITS = { permits: 2, reserved: 1, maxWaiting: 10 };

@Injectable()
export class Reports {
  private readonly bulkhead = new FairBulkhead(
    LIMITS,
    () =>
      new AppError('unavailable', {
        detail: `${LIMITS.maxWaiting} reports of the account wait already`,
        headers: { 'Retry-After': '5' },
      }),
  );

  constructor(private readonly database: Database) {}

  /**
   * For the account. Throws `operation_timeout` when it takes too long, `unavailable` when too many of the account's wait
   * already.
   */
  async read<Row extends pg.QueryResultRow>(accountId: string, statement: pg.QueryConfig): Promise<Row[]> {
    return this.readTogether(accountId, (run) => run<Row>(statement));
  }

  /** The same for statements that have to see the same state of the log. */
  async readTogether<Result>(accountId: string, work: (run: Run) => Promise<Result>): Promise<Result> {
    try {
      return await this.bulkhead.run(accountId, () => this.database.readWithin(STATEMENT_TIMEOUT, work));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'operation_timeout') throw error;
      throw new AppError('operation_timeout', {
        detail: 'there is too much to read; ask for a shorter time or fewer workspaces',
        cause: error,
      });
    }
  }
}
