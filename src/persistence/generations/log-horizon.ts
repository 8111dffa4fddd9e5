// How long the oldest open transaction on the server, in any of its databases, has held back readers of the log
// (docs/decisions/0005-broadcast.md).
import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

export interface LogHorizon {
  /** Age of the oldest open transaction in seconds, as far as it is known; 0: there is none. */
  readonly heldBackSeconds: number;
  /** The database of that transaction; null if there is none, or this role may not see it. */
  readonly heldBackBy: 'this database' | 'another database' | null;
}

interface HorizonRow {
  readonly oldest: string;
  readonly isOpen: boolean;
  readonly seconds: number | null;
  readonly isHere: boolean | null;
}

const READ_HORIZON = `
SELECT pg_snapshot_xmin(snapshot)::text AS oldest, pg_snapshot_xmin(snapshot) < pg_snapshot_xmax(snapshot) AS "isOpen",
  extract(epoch FROM clock_timestamp() - oldest.xact_start)::float8 AS seconds, oldest.datname = current_database() AS "isHere"
FROM pg_current_snapshot() AS snapshot
LEFT JOIN pg_stat_activity AS oldest ON oldest.backend_xid = pg_snapshot_xmin(snapshot)::xid LIMIT 1`;

@Injectable()
export class LogHorizonReader {
  /**
   * The oldest open transaction at the last poll, and since when: for one that this role may not see there is no
   * other source.
   */
  private seen: { readonly oldest: string; readonly since: number } | null = null;

  constructor(private readonly database: Database) {}

  async read(): Promise<LogHorizon> {
    const [row] = await this.database.query<HorizonRow>({ name: 'read-log-horizon', text: READ_HORIZON });
    if (row?.isOpen !== true) {
      this.seen = null;
      return { heldBackSeconds: 0, heldBackBy: null };
    }
    const now = performance.now();
    if (this.seen?.oldest !== row.oldest) this.seen = { oldest: row.oldest, since: now };
    const seconds = Math.max(row.seconds ?? 0, (now - this.seen.since) / 1_000);
    const by = row.isHere ? 'this database' : 'another database';
    return { heldBackSeconds: seconds, heldBackBy: row.isHere === null ? null : by };
  }
}
