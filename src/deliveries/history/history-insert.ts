// Inserts of the copy: one that is repeated is stored once.
import { createHash } from 'node:crypto';
import type { HistoryInsert } from '../../domain/generations/history-server.js';

export interface HistoryTarget {
  readonly database: string;
  /** Names the tables: others are filled from the beginning. */
  readonly identity: string;
}

/** `rows`: one JSON object a line. */
export function historyInsert({ identity }: HistoryTarget, table: string, rows: string): HistoryInsert {
  return {
    statement: `INSERT INTO ${table} FORMAT JSONEachRow`,
    rows,
    token: createHash('sha256').update(identity).update(rows).digest('hex'),
  };
}
