// The tables of the history in ClickHouse, and a row of the log as a row there (docs/operating.md#history).
//
// A generation has one key there, whatever number of times it is copied: readers use FINAL, which leaves one row of each
// key. Its position in the log decides whether a reader takes it from here or from PostgreSQL.

interface HistoryColumn {
  readonly type: string;
  /** The expression of a row of the log, where it is not the column itself. */
  readonly value?: string;
}

const text: HistoryColumn = { type: 'String' };
const uuid: HistoryColumn = { type: 'UUID' };
const whole: HistoryColumn = { type: 'Int32' };
const name: HistoryColumn = { type: 'LowCardinality(String)' };
const json = (column: string): HistoryColumn => ({ type: 'Nullable(String)', value: `${column}::text` });
const optional = ({ type }: HistoryColumn): HistoryColumn => ({
  type: type.startsWith('LowCardinality') ? type.replace('String', 'Nullable(String)') : `Nullable(${type})`,
});
const amount: HistoryColumn = { type: 'Nullable(Decimal(38, 12))' };

/** By the columns of the log. Another column needs another version in MIGRATIONS. */
export const HISTORY_COLUMNS = {
  workspace_id: uuid,
  created_at: {
    type: "DateTime64(3, 'UTC')",
    value: "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS')",
  },
  id: uuid,
  log_transaction: { type: 'Int64' },
  log_ordinal: whole,
  account_id: uuid,
  api_key_id: uuid,
  operation: name,
  model: name,
  endpoint: optional(name),
  provider: optional(name),
  upstream_id: optional(text),
  status: { type: 'Int16' },
  error_type: optional(name),
  input_count: whole,
  prompt_tokens: whole,
  total_tokens: whole,
  cost: amount,
  upstream_cost: amount,
  is_byok: { type: 'Bool' },
  dimensions: optional(whole),
  encoding_format: optional(name),
  input_type: optional(name),
  duration_ms: whole,
  upstream_ms: optional(whole),
  user_id: optional(text),
  session_id: optional(text),
  request_id: text,
  region: name,
  trace: json('trace'),
  request_context: json('request_context'),
  attempts: json('attempts'),
  completion_tokens: optional(whole),
  reasoning_tokens: optional(whole),
  cached_tokens: optional(whole),
  chat: json('chat'),
} satisfies Readonly<Record<string, HistoryColumn>>;

/** Columns that every slice of the log has. */
const OF_SLICE = new Set(['workspace_id', 'api_key_id', 'log_transaction', 'log_ordinal']);

/** A row of the log in the columns and notation of the history, beside the columns of a slice. */
export const HISTORY_ENTRY = Object.entries<HistoryColumn>(HISTORY_COLUMNS)
  .filter(([column]) => !OF_SLICE.has(column))
  .map(([column, { value }]) => (value === undefined ? column : `${value} AS ${column}`))
  .join(', ');

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
