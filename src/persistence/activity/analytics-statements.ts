// The statements of analytics queries, built from the closed lists of domain/analytics.ts.
//
// Why plain SQL: the metrics, groups and sources of a query are put together when it is asked.
import type {
  AnalyticsFilter,
  AnalyticsQuery,
  AnalyticsRow,
  DimensionName,
  MetricName,
} from '../../domain/generations/analytics.js';
import { cursorValues } from './activity-rollup.repository.js';
import type { RollupCursor } from './activity-rollup.repository.js';
import { isUnsummed, selectCounts } from './rollup-statements.js';
import type { RangePart } from './usage-parts.js';
import { COUNTS, forBuckets, IS_FAILED, LATENCY_BUCKET } from './usage-statements.js';
import type { UsageLevel } from './usage-statements.js';

/** The shares of the metrics that no sums answer exactly. */
export const PERCENTILES = {
  latency_p50: 0.5,
  latency_p90: 0.9,
  latency_p95: 0.95,
  latency_p99: 0.99,
} as const;
export type PercentileName = keyof typeof PERCENTILES;
export const isPercentile = (name: string): name is PercentileName => name in PERCENTILES;

/** Milliseconds with three decimals: more is noise of the database's arithmetic. */
const rounded = (expression: string): string => `round((${expression})::numeric, 3)::float8`;
const percentile = (name: PercentileName): string =>
  rounded(`percentile_cont(${PERCENTILES[name]}) WITHIN GROUP (ORDER BY duration_ms)`);

const METRIC_COLUMNS: Readonly<Record<MetricName, string>> = {
  request_count: 'sum(requests)::float8',
  error_count: 'sum(failed_requests)::float8',
  error_rate: 'sum(failed_requests)::float8 / sum(requests)::float8',
  input_count: 'sum(inputs)::float8',
  prompt_tokens: 'sum(prompt_tokens)::float8',
  completion_tokens: 'sum(completion_tokens)::float8',
  reasoning_tokens: 'sum(reasoning_tokens)::float8',
  cached_tokens: 'sum(cached_tokens)::float8',
  total_tokens: 'sum(total_tokens)::float8',
  total_usage: 'sum(usage)::float8',
  byok_usage: 'sum(byok_usage)::float8',
  latency_avg: rounded('sum(duration_ms)::numeric / sum(requests)'),
  // Of rows of the log alone.
  latency_p50: percentile('latency_p50'),
  latency_p90: percentile('latency_p90'),
  latency_p95: percentile('latency_p95'),
  latency_p99: percentile('latency_p99'),
};

interface DimensionColumn {
  readonly column: string;
  /** The type of the values of a filter. */
  readonly type: 'text' | 'uuid';
  /** Sums have an empty text instead of null. */
  readonly isNullable?: true;
  readonly isText?: true;
}

const DIMENSION_COLUMNS: Readonly<Record<DimensionName, DimensionColumn>> = {
  model: { column: 'model', type: 'text', isText: true },
  provider: { column: 'provider', type: 'text', isText: true, isNullable: true },
  endpoint: { column: 'endpoint', type: 'text', isText: true, isNullable: true },
  api_key_id: { column: 'api_key_id', type: 'uuid' },
  user: { column: 'user_id', type: 'text', isText: true },
  workspace: { column: 'workspace_id', type: 'text' },
  status: { column: 'status', type: 'text' },
  error_type: { column: 'error_type', type: 'text', isText: true, isNullable: true },
};

const shown = (name: DimensionName): string => {
  const { column, isText } = DIMENSION_COLUMNS[name];
  return isText ? column : `${column}::text`;
};

const DIMENSIONS_OF_TOTALS = new Set<DimensionName>(['api_key_id', 'workspace']);

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

export interface AnalyticsSources {
  readonly parts: readonly RangePart[];
  /** Null: no part needs it. */
  readonly cursor: RollupCursor | null;
}

/** Whether the sums can answer the query: they know no users, and percentiles only when a result is known. */
export function isSummable(query: AnalyticsQuery): boolean {
  const { dimensions, filters, granularity } = query;
  return (
    granularity !== 'minute' &&
    !dimensions.includes('user') &&
    filters.every(({ dimension }) => dimension !== 'user') &&
    !((dimensions.length > 0 || granularity !== null) && isPercentile(orderOf(query).field))
  );
}

/** The level of the sums that have the fewest rows for the query. */
export function levelOf({ dimensions, filters }: AnalyticsQuery): UsageLevel {
  const isOfKeys =
    dimensions.includes('api_key_id') || filters.some(({ dimension }) => dimension === 'api_key_id');
  if (!isOfKeys) return 'workspace';
  // The days of one key are found by the primary key of the rows by model.
  return filters.length === 0 && dimensions.every((name) => DIMENSIONS_OF_TOTALS.has(name))
    ? 'key_total'
    : 'key';
}

/** The parameters of one statement; the cursor's are added when a part needs them. */
class Parameters {
  readonly values: unknown[] = [];
  private cursor: readonly string[] | undefined;

  readonly add = (value: unknown): string => `$${this.values.push(value)}`;

  ofCursor(cursor: RollupCursor | null): readonly string[] {
    this.cursor ??= cursor === null ? [] : cursorValues(cursor).map((value) => this.add(value));
    return this.cursor;
  }
}

const COUNT_COLUMNS = COUNTS.join(', ');

/** The counts of a row of the log or of the sums. */
function countsOf(source: RangePart['source']): string {
  if (typeof source === 'string')
    return `1 AS requests, (${IS_FAILED})::integer AS failed_requests, ${selectCounts(COUNTS)}`;
  const failed = source.level === 'key_total' ? '' : `CASE WHEN ${IS_FAILED} THEN requests ELSE 0 END AS `;
  return `requests, ${failed}failed_requests, ${COUNT_COLUMNS}`;
}

/** The rows of one part, in the columns that all parts have, beside `own` ones. */
function rowsOfPart(
  query: AnalyticsQuery,
  { source, from, to }: RangePart,
  { cursor, own, parameters }: { cursor: RollupCursor | null; own: string | null; parameters: Parameters },
): string {
  const isLog = typeof source === 'string';
  const time = isLog ? 'created_at' : 'period';
  const names = query.dimensions.map((name) => DIMENSION_COLUMNS[name]);
  const valueOf = ({ column, isNullable }: DimensionColumn): string =>
    isNullable && !isLog ? `nullif(${column}, '')` : column;
  const columns = [
    `${time} AS time`,
    ...names.map((one) => `${valueOf(one)} AS ${one.column}`),
    own ?? countsOf(source),
  ];
  const matches = ({ dimension, isNot, values }: AnalyticsFilter): string => {
    const one = DIMENSION_COLUMNS[dimension];
    const value = one.isText || one.type === 'uuid' ? valueOf(one) : `${one.column}::text`;
    const isOne = `${value} = ANY(${parameters.add(values)}::${one.type}[])`;
    return isNot ? `(${isOne}) IS NOT TRUE` : isOne;
  };
  const conditions = [
    `workspace_id = ANY(${parameters.add(query.workspaceIds)}::uuid[])`,
    `${time} >= ${parameters.add(from)}`,
    `${time} < ${parameters.add(to)}`,
    ...query.filters.map(matches),
    ...(source === 'unsummed' ? [isUnsummed(parameters.ofCursor(cursor))] : []),
  ];
  return `SELECT ${columns.join(', ')} FROM ${isLog ? 'generations' : source.table} WHERE ${conditions.join(' AND ')}`;
}

const dateOf = ({ granularity }: AnalyticsQuery): string | null =>
  granularity === null
    ? null
    : `to_char(date_trunc('${granularity}', time AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

interface Group {
  /** The name in a result. */
  readonly name: string;
  readonly expression: string;
  /** Groups rows without converting each to text. */
  readonly key: string;
}

function groupsOf(query: AnalyticsQuery): readonly Group[] {
  const date = dateOf(query);
  return [
    ...(date === null ? [] : [{ name: 'date', expression: date, key: date }]),
    ...query.dimensions.map((name) => ({
      name,
      expression: shown(name),
      key: DIMENSION_COLUMNS[name].column,
    })),
  ];
}

const named = (groups: readonly Group[]): string =>
  groups.map(({ name, expression }) => `${expression} AS "${name}", `).join('');
const keysOf = (groups: readonly Group[]): readonly string[] => groups.map(({ key }) => key);
const groupBy = (expressions: readonly string[]): string =>
  expressions.length === 0 ? '' : `GROUP BY ${expressions.join(', ')}`;

/** The result without percentiles, if a part is of sums. One row more than the limit where there are more. */
export function readResult(query: AnalyticsQuery, { parts, cursor }: AnalyticsSources): Statement {
  const parameters = new Parameters();
  const isOfSums = parts.some(({ source }) => typeof source !== 'string');
  const metrics = query.metrics.filter((name) => !isOfSums || !isPercentile(name));
  const groups = groupsOf(query);
  const expressions = groups.map(({ expression }) => expression);
  const rows = parts.map((part) => rowsOfPart(query, part, { cursor, own: null, parameters }));
  // The requested order comes first; the groups make the order total.
  const { field, isDescending } = orderOf(query);
  const isOfMissing = isOfSums && isPercentile(field);
  const column =
    field === 'date'
      ? (dateOf(query) ?? METRIC_COLUMNS.request_count)
      : field in METRIC_COLUMNS
        ? METRIC_COLUMNS[isOfMissing ? 'request_count' : (field as MetricName)]
        : shown(field as DimensionName);
  const order = [`${column} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`, ...expressions].join(', ');
  const selected = [
    ...groups.map(({ name, expression }) => `${expression} AS "${name}"`),
    ...metrics.map((name) => `${METRIC_COLUMNS[name]} AS "${name}"`),
  ];
  const from = `FROM (${rows.join('\n  UNION ALL ')}) AS entry
  ${groups.length === 0 ? 'HAVING count(*) > 0' : groupBy(keysOf(groups))}`;
  const limit = parameters.add(query.limit + 1);
  if (query.groupLimit === null) {
    const text = `\nSELECT ${selected.join(', ')} ${from}\nORDER BY ${order} LIMIT ${limit}`;
    return { text, values: parameters.values };
  }
  const dimensions = query.dimensions.map(shown);
  const partition = dimensions.length === 0 ? '' : `PARTITION BY ${dimensions.join(', ')} `;
  const positions = [
    `row_number() OVER (ORDER BY ${order}) AS "position"`,
    `row_number() OVER (${partition}ORDER BY ${order}) AS "position_in_group"`,
  ];
  return {
    text: `
SELECT ${[...groups.map(({ name }) => name), ...metrics].map((name) => `"${name}"`).join(', ')} FROM (
  SELECT ${[...selected, ...positions].join(', ')}
  ${from}
) AS grouped
WHERE "position_in_group" <= ${parameters.add(query.groupLimit)}
ORDER BY "position" LIMIT ${limit}`,
    values: parameters.values,
  };
}

/** The latencies of the groups of a result, counted by bucket. */
export function readLatencies(
  query: AnalyticsQuery,
  result: readonly AnalyticsRow[],
  { parts, cursor }: AnalyticsSources,
): Statement {
  const parameters = new Parameters();
  const ofResult = { ...query, filters: [...query.filters, ...filtersOf(query.dimensions, result)] };
  const groups = groupsOf(query);
  const write = (isSum: boolean, own: string): string =>
    parts
      .filter(({ source }) => (typeof source !== 'string') === isSum)
      .map((part) => rowsOfPart(ofResult, part, { cursor, own, parameters }))
      .join('\n    UNION ALL ');
  const names = groups.map(({ name }) => `"${name}", `).join('');
  return {
    text: `
SELECT ${names}bucket::integer AS bucket, sum(requests)::float8 AS requests FROM (
  SELECT ${names}bucket - 1 AS bucket, requests FROM (
    SELECT ${named(groups)}${forBuckets((bucket) => `sum(latencies[${bucket + 1}])`)} AS latencies
    FROM (${write(true, 'latencies')}) AS entry ${groupBy(keysOf(groups))}
  ) AS summed CROSS JOIN LATERAL unnest(latencies) WITH ORDINALITY AS counted (requests, bucket)
  WHERE requests > 0
  UNION ALL
  SELECT ${named(groups)}bucket, count(*)
  FROM (${write(false, `${LATENCY_BUCKET} AS bucket`)}) AS entry ${groupBy([...keysOf(groups), 'bucket'])}
) AS counted ${groupBy([...groups.map(({ name }) => `"${name}"`), 'bucket'])}`,
    values: parameters.values,
  };
}

/** A result of few of many groups needs the latencies of these alone. */
function filtersOf(dimensions: readonly DimensionName[], result: readonly AnalyticsRow[]): AnalyticsFilter[] {
  return dimensions.flatMap((dimension) => {
    const values = new Set(result.map((row) => row[dimension]));
    return values.has(null) ? [] : [{ dimension, isNot: false, values: [...values].map(String) }];
  });
}

/** The default order is by time, or by the first metric in descending order. */
function orderOf({ orderBy, granularity, metrics }: AnalyticsQuery): NonNullable<AnalyticsQuery['orderBy']> {
  const [first = 'request_count'] = metrics;
  return orderBy ?? { field: granularity === null ? first : 'date', isDescending: granularity === null };
}
