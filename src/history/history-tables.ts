// The tables of the history in ClickHouse, and their inserts (docs/operating.md#history).
import { createHash } from 'node:crypto';
import { HISTORY_COLUMNS } from '../persistence/history/history-columns.js';
import type { HistoryColumn } from '../persistence/history/history-columns.js';
import type { HistoryInsert } from './clickhouse-client.js';

// Ids and JSON are most of a row, which is a quarter to a third smaller than by default.
const LONG_TEXTS = ' CODEC(ZSTD(1))';
const TABLE = 'generations';
const CONTENTS = 'generation_contents';
const VERSIONS = 'history_versions';

export const historyTable = (database: string): string => `\`${database}\`.${TABLE}`;
export const historyContentsTable = (database: string): string => `\`${database}\`.${CONTENTS}`;

/** The statements that lead from one version to the next. A version that was released is never changed. */
export const MIGRATIONS: readonly (readonly ((database: string) => string)[])[] = [
  [
    (database) => `CREATE TABLE IF NOT EXISTS ${historyTable(database)} (
${Object.entries<HistoryColumn>(HISTORY_COLUMNS)
  .map(([column, { type }]) => `  ${column} ${type}${/^(?:Nullable\()?String/.test(type) ? LONG_TEXTS : ''}`)
  .join(',\n')}
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(created_at)
ORDER BY (workspace_id, created_at, id)
SETTINGS non_replicated_deduplication_window = 1000`,
  ],
  [
    // The user is that of the generation, so that one statement erases the contents of an end user. A content is read
    // alone: with granules of the usual size the engine would decompress 10 MB for it.
    (database) => `CREATE TABLE IF NOT EXISTS ${historyContentsTable(database)} (
  workspace_id UUID,
  created_at DateTime64(3, 'UTC'),
  id UUID,
  account_id UUID,
  user_id Nullable(String)${LONG_TEXTS},
  content String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(created_at)
ORDER BY (workspace_id, created_at, id)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 256`,
  ],
  [
    (database) =>
      `ALTER TABLE ${historyTable(database)} ADD COLUMN IF NOT EXISTS error_message Nullable(String)${LONG_TEXTS}`,
  ],
];

/** `{database:String}`. A role without the right to create databases may use one that is there. */
export const COUNT_DATABASES =
  'SELECT count() FROM system.databases WHERE name = {database:String} FORMAT TabSeparated';
export const createDatabase = (database: string): string => `CREATE DATABASE IF NOT EXISTS \`${database}\``;

/** The first row names the identity of the tables, the newest their version. */
export const createVersions = (database: string): string => `
CREATE TABLE IF NOT EXISTS \`${database}\`.${VERSIONS} (version UInt32, identity UUID, migrated_at DateTime64(6, 'UTC'))
ENGINE = MergeTree ORDER BY migrated_at`;
export const readVersion = (database: string): string => `
SELECT max(version) AS version, argMin(toString(identity), migrated_at) AS identity, count() AS rows
FROM \`${database}\`.${VERSIONS} FORMAT JSONEachRow`;
/** `{version:UInt32}`, `{identity:UUID}`. */
export const addVersion = (database: string): string => `
INSERT INTO \`${database}\`.${VERSIONS} SELECT {version:UInt32}, {identity:UUID}, now64(6)`;

/** The server erases in the background, and continues after a restart. `workspaceIds`: UUIDs. */
export const eraseContents = (database: string, workspaceIds: readonly string[]): string =>
  `ALTER TABLE ${historyContentsTable(database)} DELETE WHERE workspace_id IN (${workspaceIds.map((id) => `'${id}'`).join(', ')})`;

export interface HistoryTarget {
  readonly database: string;
  /** Names the tables: others are filled from the beginning. */
  readonly identity: string;
}

/** An insert of the copy: one that is repeated is stored once. `rows`: one JSON object a line. */
export function historyInsert({ identity }: HistoryTarget, table: string, rows: string): HistoryInsert {
  return {
    statement: `INSERT INTO ${table} FORMAT JSONEachRow`,
    rows,
    token: createHash('sha256').update(identity).update(rows).digest('hex'),
  };
}
