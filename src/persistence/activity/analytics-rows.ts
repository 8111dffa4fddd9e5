// The rows that an analytics query aggregates, in the same columns from each of their sources.
import type { AnalyticsFilter, AnalyticsQuery, DimensionName } from '../../domain/generations/analytics.js';
import { cursorValues } from '../rollups/rollup.repository.js';
import type { RollupCursor } from '../rollups/rollup.repository.js';
import { COUNTS, isUnsummed, selectCounts } from '../rollups/rollup-statements.js';
import type { RangePart } from './usage-parts.js';
import { FIRST_TOKEN_MS, hasLatencies, IS_FAILED } from './usage-statements.js';
import type { HistoryRows, TimeSpan } from '../history/history.js';

interface DimensionColumn {
  readonly column: string;
  /** The type of the values of a filter. */
  readonly type: 'text' | 'uuid';
  readonly stored: 'text' | 'uuid' | 'smallint';
  /** Sums have an empty text instead of null. */
  readonly isNullable?: true;
  readonly isText?: true;
}

const TEXT = { type: 'text', stored: 'text', isText: true } as const;

export const DIMENSION_COLUMNS: Readonly<Record<DimensionName, DimensionColumn>> = {
  model: { column: 'model', ...TEXT },
  provider: { column: 'provider', ...TEXT, isNullable: true },
  endpoint: { column: 'endpoint', ...TEXT, isNullable: true },
  api_key_id: { column: 'api_key_id', type: 'uuid', stored: 'uuid' },
  user: { column: 'user_id', ...TEXT },
  workspace: { column: 'workspace_id', type: 'text', stored: 'uuid' },
  status: { column: 'status', type: 'text', stored: 'smallint' },
  error_type: { column: 'error_type', ...TEXT, isNullable: true },
  // Of refused calls alone.
  refusal_reason: { column: 'reason', ...TEXT },
};

/** The sources of one scope: whole workspaces, or keys. A result adds up those of all scopes. */
export interface AnalyticsSources {
  /** With the workspaces and the filters of the scope. */
  readonly query: AnalyticsQuery;
  readonly parts: readonly RangePart[];
  /** Null: no part needs it. */
  readonly cursor: RollupCursor | null;
  /** Null: the whole range is answered by this database. */
  readonly history: HistoryRows | null;
  /** Null: the query does not count refused calls. */
  readonly refusals: RefusalTable | null;
}

const countsRefusals = ({ metrics }: AnalyticsQuery): boolean => metrics.includes('refused_count');

/** The parameters of one statement; those of a cursor are added when a part needs them. */
export class Parameters {
  readonly values: unknown[] = [];
  private readonly cursors = new Map<RollupCursor, readonly string[]>();

  readonly add = (value: unknown): string => `$${this.values.push(value)}`;

  ofCursor(cursor: RollupCursor | null): readonly string[] {
    if (cursor === null) return [];
    const known = this.cursors.get(cursor) ?? cursorValues(cursor).map((value) => this.add(value));
    this.cursors.set(cursor, known);
    return known;
  }
}

const COUNT_COLUMNS = COUNTS.join(', ');

/** The counts of a row of the log or of the sums. */
function countsOf(source: RangePart['source']): string {
  if (typeof source === 'string')
    return `1 AS requests, (${IS_FAILED})::integer AS failed_requests, ${selectCounts(COUNTS)}`;
  const failed = hasLatencies(source.level) ? `CASE WHEN ${IS_FAILED} THEN requests ELSE 0 END AS ` : '';
  return `requests, ${failed}failed_requests, ${COUNT_COLUMNS}`;
}

/** The columns of a row beside its time and dimensions. */
export type RowColumns =
  { readonly hasFirstTokens: boolean; readonly hasLatency: boolean } | { readonly own: string };

const NONE = 'NULL::integer';

function timesOf(
  { hasFirstTokens, hasLatency }: Exclude<RowColumns, { readonly own: string }>,
  { firstToken, latency }: { readonly firstToken: string; readonly latency: string },
): string {
  return `${hasFirstTokens ? `, ${firstToken} AS first_token_ms` : ''}${hasLatency ? `, ${latency} AS latency` : ''}`;
}

function columnsOf(query: AnalyticsQuery, source: RangePart['source'], columns: RowColumns): string {
  if ('own' in columns) return columns.own;
  const refused = countsRefusals(query) ? ', 0 AS refused' : '';
  const firstToken = typeof source === 'string' ? FIRST_TOKEN_MS : NONE;
  return `${countsOf(source)}${refused}${timesOf(columns, { firstToken, latency: 'duration_ms' })}`;
}

type ValueOf = (column: DimensionColumn) => string;

/** The scope, the range and the filters of a query as conditions of rows. */
function conditionsOf(
  query: Pick<AnalyticsQuery, 'workspaceIds' | 'filters'>,
  { time, from, to }: TimeSpan & { readonly time: string },
  valueOf: ValueOf,
  parameters: Parameters,
): readonly string[] {
  const matches = ({ dimension, isNot, values }: AnalyticsFilter): string => {
    const one = DIMENSION_COLUMNS[dimension];
    const value = one.isText || one.type === 'uuid' ? valueOf(one) : `${one.column}::text`;
    const isOne = `${value} = ANY(${parameters.add(values)}::${one.type}[])`;
    return isNot ? `(${isOne}) IS NOT TRUE` : isOne;
  };
  return [
    `workspace_id = ANY(${parameters.add(query.workspaceIds)}::uuid[])`,
    `${time} >= ${parameters.add(from)}`,
    `${time} < ${parameters.add(to)}`,
    ...query.filters.map(matches),
  ];
}

/** The rows of one part, in the columns that all parts have. */
export function rowsOfPart(
  { source, from, to }: RangePart,
  { query, cursor, history }: AnalyticsSources,
  columns: RowColumns,
  parameters: Parameters,
): string {
  const isLog = typeof source === 'string';
  const time = isLog ? 'created_at' : 'period';
  const names = query.dimensions.map((name) => DIMENSION_COLUMNS[name]);
  const valueOf: ValueOf = ({ column, isNullable }) =>
    isNullable && !isLog ? `nullif(${column}, '')` : column;
  const selected = [
    `${time} AS time`,
    ...names.map((one) => `${valueOf(one)} AS ${one.column}`),
    columnsOf(query, source, columns),
  ];
  const conditions = [
    ...conditionsOf(query, { time, from, to }, valueOf, parameters),
    ...(source === 'unsummed' ? [isUnsummed(parameters.ofCursor(cursor))] : []),
    ...(source === 'uncopied' ? [isUnsummed(parameters.ofCursor(history?.cursor ?? null))] : []),
  ];
  return `SELECT ${selected.join(', ')} FROM ${isLog ? 'generations' : source.table} WHERE ${conditions.join(' AND ')}`;
}

const typeOfCount = (column: string): string => (column.endsWith('usage') ? 'numeric' : 'bigint');

/** The rows of the history, in the same columns. */
export function rowsOfHistory(
  query: AnalyticsQuery,
  { json }: HistoryRows,
  columns: RowColumns,
  parameters: Parameters,
): string {
  const names = query.dimensions.map((name) => DIMENSION_COLUMNS[name]);
  const counts = ['requests', 'failed_requests', ...COUNTS];
  const types = [
    'time float8',
    ...names.map(({ column, stored }) => `${column} ${stored}`),
    ...counts.map((column) => `${column} ${typeOfCount(column)}`),
    'bucket integer',
    'latency integer',
  ];
  const refused = countsRefusals(query) ? ', 0 AS refused' : '';
  const own =
    'own' in columns
      ? 'bucket, requests'
      : `${counts.join(', ')}${refused}${timesOf(columns, { firstToken: NONE, latency: 'latency' })}`;
  const selected = ['to_timestamp(time) AS time', ...names.map(({ column }) => column), own];
  return `SELECT ${selected.join(', ')} FROM jsonb_to_recordset(${parameters.add(json)}::jsonb) AS history (${types.join(', ')})`;
}

export type RefusalTable = 'refusal_minutes' | 'refusal_hours';

/** Milliseconds of a row. */
const LENGTHS: Readonly<Record<RefusalTable, number>> = { refusal_minutes: 60_000, refusal_hours: 3_600_000 };

/** The sums of refused calls, in the same columns. The first period of the range counts whole. */
export function rowsOfRefusals(
  query: AnalyticsQuery,
  table: RefusalTable,
  columns: Exclude<RowColumns, { readonly own: string }>,
  parameters: Parameters,
): string {
  const length = LENGTHS[table];
  const from = new Date(Math.floor(query.from.getTime() / length) * length);
  const valueOf: ValueOf = ({ column }) => column;
  const selected = [
    'period AS time',
    ...query.dimensions.map((name) => DIMENSION_COLUMNS[name].column),
    '0 AS requests',
    '0 AS failed_requests',
    // A percentile must not count them.
    ...COUNTS.map((column) => (column === 'duration_ms' ? 'NULL::integer' : '0') + ` AS ${column}`),
    `refusals AS refused${timesOf(columns, { firstToken: NONE, latency: NONE })}`,
  ];
  const conditions = conditionsOf(query, { time: 'period', from, to: query.to }, valueOf, parameters);
  return `SELECT ${selected.join(', ')} FROM ${table} WHERE ${conditions.join(' AND ')}`;
}
