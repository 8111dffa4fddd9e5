// Sums the log by day for /activity, and by hour for analytics and their end users.
import { Injectable } from '@nestjs/common';
import { ACTIVITY_ROLLUP } from './activity-statements.js';
import { removeExpired, USAGE_ROLLUP, USAGE_TABLES, USER_ROLLUP, USER_TABLES } from './usage-statements.js';
import type { UsageTable } from './usage-statements.js';
import { Database } from '../database/database.js';
import { RollupRepository } from '../rollups/rollup.repository.js';
import type { Rollup } from '../rollups/rollup-statements.js';

const DAY = 86_400_000;
// Rows of one statement.
const MAX_REMOVED = 10_000;

@Injectable()
export class ActivityRollupRepository extends RollupRepository {
  constructor(database: Database) {
    super(database, ACTIVITY_ROLLUP);
  }
}

/** Its tables have periods that end. */
export abstract class PeriodRollupRepository extends RollupRepository {
  protected constructor(
    database: Database,
    statements: Rollup,
    private readonly tables: readonly UsageTable[],
  ) {
    super(database, statements);
  }

  /** Removes sums past their retention, a bounded number at a time. Returns whether there may be more. */
  async removeExpired(now: Date): Promise<boolean> {
    let hasMore = false;
    for (const table of this.tables) {
      const [row] = await this.database.query<{ removed: number }>({
        text: removeExpired(table),
        values: [new Date(now.getTime() - table.removedAfterDays * DAY), MAX_REMOVED],
      });
      hasMore ||= row?.removed === MAX_REMOVED;
    }
    return hasMore;
  }
}

@Injectable()
export class UsageRollupRepository extends PeriodRollupRepository {
  constructor(database: Database) {
    super(database, USAGE_ROLLUP, USAGE_TABLES);
  }
}

@Injectable()
export class UserRollupRepository extends PeriodRollupRepository {
  constructor(database: Database) {
    super(database, USER_ROLLUP, USER_TABLES);
  }
}
