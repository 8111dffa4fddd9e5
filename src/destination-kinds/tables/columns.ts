// The columns of a table of generations, shared by ClickHouse, Snowflake and the DDL in docs/destinations. The names
// match the tables of OpenRouter, so that existing queries continue to work.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { levelOf } from '../otlp/attributes.js';
import { completionTokensOf } from '../shared/trace-json.js';
import { attributesOf, inputOf, metadataOf, outputOf, parametersOf } from './json-columns.js';

interface SqlType {
  readonly clickhouse: string;
  readonly snowflake: string;
}

const TEXT: SqlType = { clickhouse: 'String', snowflake: 'VARCHAR' };
const OPTIONAL_TEXT: SqlType = { clickhouse: 'Nullable(String)', snowflake: 'VARCHAR' };
/** A column with few distinct values. */
const WORD: SqlType = { clickhouse: 'LowCardinality(String)', snowflake: 'VARCHAR' };
const OPTIONAL_WORD: SqlType = { clickhouse: 'LowCardinality(Nullable(String))', snowflake: 'VARCHAR' };
const TIME: SqlType = { clickhouse: "DateTime64(3, 'UTC')", snowflake: 'TIMESTAMP_NTZ(3)' };
const MILLISECONDS: SqlType = { clickhouse: 'Float64', snowflake: 'NUMBER(18, 3)' };
const COUNT: SqlType = { clickhouse: 'UInt64', snowflake: 'NUMBER(18, 0)' };
const USD: SqlType = { clickhouse: 'Nullable(Decimal(24, 12))', snowflake: 'NUMBER(24, 12)' };
const JSON_TEXT: SqlType = { clickhouse: 'String', snowflake: 'VARIANT' };
const OPTIONAL_JSON_TEXT: SqlType = { clickhouse: 'Nullable(String)', snowflake: 'VARIANT' };

export interface Column {
  readonly name: string;
  readonly type: SqlType;
  /** An object is stored as its JSON. Null: unknown. */
  readonly value: (trace: GenerationTrace) => string | number | Date | object | null;
}

export const COLUMNS: readonly Column[] = [
  { name: 'GENERATION_ID', type: TEXT, value: ({ generationId }) => generationHeaderId(generationId) },
  { name: 'TRACE_ID', type: TEXT, value: ({ traceId }) => traceId },
  { name: 'SPAN_ID', type: TEXT, value: ({ spanId }) => spanId },
  { name: 'PARENT_SPAN_ID', type: OPTIONAL_TEXT, value: ({ parentSpanId }) => parentSpanId },
  { name: 'WORKSPACE_ID', type: WORD, value: ({ workspaceId }) => workspaceId },
  { name: 'API_KEY_NAME', type: WORD, value: ({ apiKeyName }) => apiKeyName },
  { name: 'USER_ID', type: OPTIONAL_TEXT, value: ({ userId }) => userId },
  { name: 'SESSION_ID', type: OPTIONAL_TEXT, value: ({ sessionId }) => sessionId },
  { name: 'TIMESTAMP', type: TIME, value: ({ startedAt }) => startedAt },
  { name: 'START_TIME', type: TIME, value: ({ startedAt }) => startedAt },
  { name: 'END_TIME', type: TIME, value: ({ endedAt }) => endedAt },
  { name: 'DURATION_MS', type: MILLISECONDS, value: ({ durationMs }) => durationMs },
  { name: 'SPAN_TYPE', type: WORD, value: () => 'GENERATION' },
  { name: 'STATUS', type: WORD, value: ({ error }) => (error === null ? 'ok' : 'error') },
  { name: 'LEVEL', type: WORD, value: levelOf },
  // Embeddings without an error have none.
  {
    name: 'FINISH_REASON',
    type: OPTIONAL_WORD,
    value: ({ error, chat }) => (error === null ? (chat?.finishReason ?? null) : 'error'),
  },
  { name: 'MODEL', type: WORD, value: ({ model }) => model },
  { name: 'PROVIDER_NAME', type: OPTIONAL_WORD, value: ({ provider }) => provider },
  { name: 'PROMPT_TOKENS', type: COUNT, value: ({ promptTokens }) => promptTokens },
  {
    name: 'COMPLETION_TOKENS',
    type: COUNT,
    value: completionTokensOf,
  },
  { name: 'TOTAL_TOKENS', type: COUNT, value: ({ totalTokens }) => totalTokens },
  { name: 'TOTAL_COST', type: USD, value: ({ cost }) => cost },
  { name: 'ATTRIBUTES', type: JSON_TEXT, value: attributesOf },
  { name: 'METADATA', type: JSON_TEXT, value: metadataOf },
  { name: 'MODEL_PARAMETERS', type: JSON_TEXT, value: parametersOf },
  { name: 'INPUT', type: OPTIONAL_JSON_TEXT, value: inputOf },
  { name: 'OUTPUT', type: JSON_TEXT, value: outputOf },
];

/** The form of values that JSON cannot express, for a warehouse. */
export interface RowFormat {
  time(moment: Date): string | number;
  json(value: object): string | object;
}

/** A trace as an object of columns. Unknown values are omitted and become the column's default. */
export function rowOf(trace: GenerationTrace, format: RowFormat): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  for (const { name, value } of COLUMNS) {
    const cell = value(trace);
    if (cell === null) continue;
    if (cell instanceof Date) row[name] = format.time(cell);
    else row[name] = typeof cell === 'object' ? format.json(cell) : cell;
  }
  return row;
}

const MAX_NAMED = 5;

/** The missing columns with their types, as ALTER TABLE takes them; null when the table has every column. */
export function missingColumns(present: readonly unknown[], warehouse: keyof SqlType): string | null {
  const missing = COLUMNS.filter(({ name }) => !present.includes(name));
  if (missing.length === 0) return null;
  const named = missing.slice(0, MAX_NAMED).map(({ name, type }) => `${name} ${type[warehouse]}`);
  const others = missing.length - named.length;
  return `the table lacks the columns ${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}
