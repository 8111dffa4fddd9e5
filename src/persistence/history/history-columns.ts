// A row of the log as a row of the history in ClickHouse (docs/operating.md#history).
//
// A generation has one key there, whatever number of times it is copied: readers use FINAL, which leaves one row of each
// key. Its position in the log decides whether a reader takes it from here or from PostgreSQL.

export interface HistoryColumn {
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
  error_message: optional(text),
} satisfies Readonly<Record<string, HistoryColumn>>;

/** Columns that every slice of the log has. */
const OF_SLICE = new Set(['workspace_id', 'api_key_id', 'log_transaction', 'log_ordinal']);

/** A row of the log in the columns and notation of the history, beside the columns of a slice. */
export const HISTORY_ENTRY = Object.entries<HistoryColumn>(HISTORY_COLUMNS)
  .filter(([column]) => !OF_SLICE.has(column))
  .map(([column, { value }]) => (value === undefined ? column : `${value} AS ${column}`))
  .join(', ');
