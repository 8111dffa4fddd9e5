// The statements that read the history. Every value is a parameter: texts as hexadecimal digits, which need no escapes
// whatever they hold.
//
// `FINAL` leaves one row of each generation, also before ClickHouse has merged the copies of a repeated step.
import type { AnalyticsQuery } from '../domain/generations/analytics.js';
import type { HistoryStatement } from './clickhouse-client.js';
import { LATENCY_BOUNDS } from '../domain/generations/latency-histogram.js';
import type { RollupCursor } from '../persistence/rollups/rollup.repository.js';
import { DIMENSION_COLUMNS } from '../persistence/activity/analytics-rows.js';
import type { TimeSpan, LatencyGroups } from '../persistence/history/history.js';
import { historyTable } from './history-tables.js';

/** Rows of one answer; beyond it the query is rejected. */
export const MAX_ROWS = 100_000;

/** The time is that of reports in PostgreSQL. */
export const READ_SETTINGS = {
  max_execution_time: '5',
  max_memory_usage: '2000000000',
  // Copies of a generation have the same time and so the same partition.
  do_not_merge_across_partitions_select_final: '1',
  // Names of sums are names of columns as well.
  prefer_column_name_to_alias: '1',
  output_format_json_quote_64bit_integers: '1',
  output_format_json_quote_decimals: '1',
};

/** Bytes of one parameter of a list: the server refuses a field of a form above 128 KiB. */
const MAX_LIST_BYTES = 100_000;

/** The parameters of one statement. */
export class HistoryParameters {
  readonly values: Record<string, string> = {};

  add(type: string, value: string): string {
    const name = `p${Object.keys(this.values).length}`;
    this.values[name] = value;
    return `{${name}:${type}}`;
  }

  readonly uuids = (ids: readonly string[]): string => this.list('UUID', ids);

  /** An expression of the type Array(String). */
  readonly texts = (texts: readonly string[]): string => {
    const digits = texts.map((text) => Buffer.from(text, 'utf8').toString('hex'));
    return `arrayMap(digits -> unhex(digits), ${this.list('String', digits)})`;
  };

  readonly moment = (moment: Date): string =>
    `fromUnixTimestamp64Milli(${this.add('Int64', String(moment.getTime()))}, 'UTC')`;

  /** An array of texts in ASCII, in as many parameters as they need. */
  private list(type: string, elements: readonly string[]): string {
    const parts: string[] = [];
    let part = '';
    for (const element of elements) {
      if (part !== '' && part.length + element.length > MAX_LIST_BYTES) {
        parts.push(part);
        part = '';
      }
      part += part === '' ? `'${element}'` : `,'${element}'`;
    }
    const arrays = [...parts, part].map((one) => this.add(`Array(${type})`, `[${one}]`));
    return arrays.length === 1 ? arrays.join('') : `arrayConcat(${arrays.join(', ')})`;
  }
}

/** Selects these workspaces alone: the scope of every statement, and the beginning of the table's order. */
export const ofWorkspaces = (ids: readonly string[], { uuids }: HistoryParameters): string =>
  `workspace_id IN (SELECT arrayJoin(${uuids(ids)}))`;

/** Compares as texts; never null, also where the column is. */
export const isOneOf = (column: string, values: readonly string[], { texts }: HistoryParameters): string =>
  `(isNotNull(${column}) AND has(${texts(values)}, ifNull(toString(${column}), '')))`;

/** The opposite of isUnsummed: rows that are copied, whether or not a later step has stored more already. */
function isCopied(
  { summedBefore, passUntil, workspaceId, transaction, ordinal }: RollupCursor,
  parameters: HistoryParameters,
): string {
  const number = (value: string): string => parameters.add('Int64', value);
  const workspace = parameters.add('String', workspaceId);
  // UUIDs have another order in ClickHouse; that of their texts is PostgreSQL's.
  const position = `(toString(workspace_id), log_transaction, toInt64(log_ordinal)) <= (${workspace}, ${number(transaction)}, ${number(String(ordinal))})`;
  return `(log_transaction < ${number(summedBefore)} OR (log_transaction < ${number(passUntil)} AND ${position}))`;
}

const START_OF_PERIOD = {
  minute: 'toStartOfMinute(created_at)',
  hour: 'toStartOfHour(created_at)',
  day: 'toStartOfDay(created_at)',
  // From Monday.
  week: 'toMonday(created_at)',
  month: 'toStartOfMonth(created_at)',
} as const;

/** As IS_FAILED, COUNTS and the buckets of latencies of the sums in PostgreSQL. */
const SUMS = `toString(count()) AS requests, toString(countIf(status >= 400 AND status != 499)) AS failed_requests,
  toString(sum(input_count)) AS inputs, toString(sum(prompt_tokens)) AS prompt_tokens,
  toString(sum(ifNull(completion_tokens, 0))) AS completion_tokens,
  toString(sum(ifNull(reasoning_tokens, 0))) AS reasoning_tokens,
  toString(sum(ifNull(cached_tokens, 0))) AS cached_tokens, toString(sum(total_tokens)) AS total_tokens,
  toString(sum(ifNull(cost, 0))) AS usage, toString(sumIf(ifNull(upstream_cost, 0), is_byok)) AS byok_usage,
  toString(sum(duration_ms)) AS duration_ms`;
const BOUNDS = LATENCY_BOUNDS.join(',');
const BUCKET = `indexOf([${BOUNDS}], roundDown(duration_ms, [0,${BOUNDS}]))`;

const LATENCY_COLUMNS: Readonly<Record<LatencyGroups, string>> = {
  none: '',
  bucket: `${BUCKET} AS bucket, `,
  latency: 'duration_ms AS latency, ',
};

/** The sums of the spans for each group of the query, one JSON object a line. */
export function readSums(
  database: string,
  query: AnalyticsQuery,
  {
    spans,
    cursor,
    latencies,
  }: {
    readonly spans: readonly TimeSpan[];
    readonly cursor: RollupCursor;
    readonly latencies: LatencyGroups;
  },
): HistoryStatement {
  const parameters = new HistoryParameters();
  const { moment } = parameters;
  const columns = query.dimensions.map((name) => DIMENSION_COLUMNS[name].column);
  const [first] = spans;
  const start = query.granularity === null ? null : START_OF_PERIOD[query.granularity];
  const time =
    start === null
      ? parameters.add('Int64', String(Math.floor((first?.from.getTime() ?? 0) / 1_000)))
      : `toUnixTimestamp(toDateTime(${start}, 'UTC'))`;
  const matches = query.filters.map(({ dimension, isNot, values }) => {
    const isOne = isOneOf(DIMENSION_COLUMNS[dimension].column, values, parameters);
    return isNot ? `NOT ${isOne}` : isOne;
  });
  const times = spans.map(({ from, to }) => `(created_at >= ${moment(from)} AND created_at < ${moment(to)})`);
  const conditions = [
    ofWorkspaces(query.workspaceIds, parameters),
    `(${times.join(' OR ')})`,
    isCopied(cursor, parameters),
    ...matches,
  ];
  const groups = ['time', ...columns, ...(latencies === 'none' ? [] : [latencies])];
  return {
    text: `
SELECT ${time} AS time, ${columns.map((column) => `${column}, `).join('')}${LATENCY_COLUMNS[latencies]}${SUMS}
FROM ${historyTable(database)} FINAL
WHERE ${conditions.join(' AND ')}
GROUP BY ${groups.join(', ')} LIMIT ${MAX_ROWS + 1} FORMAT JSONEachRow`,
    parameters: parameters.values,
    settings: READ_SETTINGS,
  };
}
