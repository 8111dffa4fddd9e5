// The statements of analytics queries, built from the closed lists of domain/analytics.ts.
//
// Why plain SQL: the metrics, groups and sources of a query are put together when it runs.
import type {
  AnalyticsFilter,
  AnalyticsQuery,
  AnalyticsRow,
  DimensionName,
  MetricName,
} from '../../domain/generations/analytics.js';
import {
  DIMENSION_COLUMNS,
  Parameters,
  rowsOfHistory,
  rowsOfPart,
  rowsOfRefusals,
} from './analytics-rows.js';
import type { AnalyticsSources } from './analytics-rows.js';
import { isOfFirstToken, isPercentile, percentile, rounded, weightedPercentile } from './percentiles.js';
import type { Timing } from './percentiles.js';
import { BUCKETS, forBuckets } from './usage-statements.js';
import type { UsageLevel } from './usage-statements.js';

const METRIC_COLUMNS: Readonly<Record<MetricName, string>> = {
  request_count: 'sum(requests)::float8',
  error_count: 'sum(failed_requests)::float8',
  refused_count: 'sum(refused)::float8',
  // Null: all were refused.
  error_rate: 'sum(failed_requests)::float8 / nullif(sum(requests), 0)::float8',
  input_count: 'sum(inputs)::float8',
  prompt_tokens: 'sum(prompt_tokens)::float8',
  completion_tokens: 'sum(completion_tokens)::float8',
  reasoning_tokens: 'sum(reasoning_tokens)::float8',
  cached_tokens: 'sum(cached_tokens)::float8',
  total_tokens: 'sum(total_tokens)::float8',
  total_usage: 'sum(usage)::float8',
  byok_usage: 'sum(byok_usage)::float8',
  latency_avg: rounded('sum(duration_ms)::numeric / nullif(sum(requests), 0)'),
  // Only rows of the log have these.
  latency_p50: percentile('latency_p50'),
  latency_p90: percentile('latency_p90'),
  latency_p95: percentile('latency_p95'),
  latency_p99: percentile('latency_p99'),
  time_to_first_token_p50: percentile('time_to_first_token_p50'),
  time_to_first_token_p95: percentile('time_to_first_token_p95'),
};

const shown = (name: DimensionName): string => {
  const { column, isText } = DIMENSION_COLUMNS[name];
  return isText ? column : `${column}::text`;
};

const DIMENSIONS_OF_USERS = new Set<DimensionName>(['user', 'workspace', 'api_key_id', 'model', 'provider']);
/** Levels with fewer rows than all dimensions of keys and users, those with the fewest first; all have `workspace`. */
const NARROW_LEVELS: readonly (readonly [UsageLevel, readonly DimensionName[]])[] = [
  ['key_total', ['api_key_id']],
  ['key_model', ['api_key_id', 'model', 'provider']],
  ['user_total', ['user']],
  ['user_model', ['user', 'model', 'provider']],
];

/** The dimensions of the groups and of the filters. */
const namesOf = ({ dimensions, filters }: AnalyticsQuery): readonly DimensionName[] => [
  ...dimensions,
  ...filters.map(({ dimension }) => dimension),
];

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Whether the sums can answer the query: they know percentiles only when a result is known, and none of users. */
export function isSummable(query: AnalyticsQuery): boolean {
  const { dimensions, granularity } = query;
  if (granularity === 'minute') return false;
  const names = namesOf(query);
  if (names.includes('user'))
    return !hasPercentiles(query) && names.every((name) => DIMENSIONS_OF_USERS.has(name));
  return !((dimensions.length > 0 || granularity !== null) && isPercentile(orderOf(query).field));
}

/** Whether the query asks for nothing that generations have. */
export function isOfRefusals({ metrics }: AnalyticsQuery): boolean {
  return metrics.every((name) => name === 'refused_count');
}

/** The level of the sums that have the fewest rows for the query. */
export function levelOf(query: AnalyticsQuery): UsageLevel {
  const names = namesOf(query).filter((name) => name !== 'workspace');
  const isOfUser = names.includes('user');
  if (!isOfUser && !names.includes('api_key_id')) return 'workspace';
  const all = isOfUser ? 'user' : 'key';
  // The days of some keys are found by the primary key of the rows by model.
  if (all === 'key' && query.filters.some(({ dimension }) => dimension === 'api_key_id')) return all;
  const narrow = NARROW_LEVELS.find(([, known]) => names.every((name) => known.includes(name)));
  return narrow?.[0] ?? all;
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

/** Whether a metric or the order is a percentile. */
export function hasPercentiles(query: AnalyticsQuery): boolean {
  return query.metrics.some(isPercentile) || isPercentile(orderOf(query).field);
}

/** Whether a metric or the order is one of first tokens, which the history does not have. */
export function hasFirstTokens(query: AnalyticsQuery): boolean {
  return query.metrics.some(isOfFirstToken) || isOfFirstToken(orderOf(query).field);
}

/** Whether percentiles come from counted latencies; the others are computed from each call. */
export function countsLatencies(query: AnalyticsQuery, sources: readonly AnalyticsSources[]): boolean {
  return sources.some(
    ({ parts, history }) =>
      parts.some(({ source }) => typeof source !== 'string') || (history !== null && isSummable(query)),
  );
}

const hasHistory = (sources: readonly AnalyticsSources[]): boolean =>
  sources.some(({ history }) => history !== null);

/** The rows of all sources; of those of the history each stands for several calls. */
function allRows(
  query: AnalyticsQuery,
  sources: readonly AnalyticsSources[],
  parameters: Parameters,
): string {
  const isWeighted = hasHistory(sources) && !countsLatencies(query, sources) && hasPercentiles(query);
  const columns = { hasFirstTokens: hasFirstTokens(query), hasLatency: isWeighted };
  const rows = sources
    .flatMap((scope) => [
      ...scope.parts.map((part) => rowsOfPart(part, scope, columns, parameters)),
      ...(scope.history === null ? [] : [rowsOfHistory(query, scope.history, columns, parameters)]),
      ...(scope.refusals === null ? [] : [rowsOfRefusals(scope.query, scope.refusals, columns, parameters)]),
    ])
    .join('\n  UNION ALL ');
  if (!isWeighted) return `(${rows}) AS entry`;
  const groups = keysOf(groupsOf(query));
  const partition = groups.length === 0 ? '' : `PARTITION BY ${groups.join(', ')} `;
  return `(SELECT *, (sum(requests) OVER (${partition}ORDER BY latency ROWS UNBOUNDED PRECEDING))::float8 AS upto,
    (sum(requests) OVER (${partition}))::float8 AS total FROM (${rows}) AS weighted) AS entry`;
}

/** The result without percentiles, if a part is of sums. One row more than the limit where there are more. */
export function readResult(query: AnalyticsQuery, sources: readonly AnalyticsSources[]): Statement {
  const parameters = new Parameters();
  const isOfSums = countsLatencies(query, sources);
  const metrics = query.metrics.filter((name) => !isOfSums || !isPercentile(name));
  const groups = groupsOf(query);
  const expressions = groups.map(({ expression }) => expression);
  const valueOf = (name: MetricName): string =>
    hasHistory(sources) && isPercentile(name) ? weightedPercentile(name) : METRIC_COLUMNS[name];
  // The requested order comes first; the groups make the order total.
  const { field, isDescending } = orderOf(query);
  const isOfMissing = isOfSums && isPercentile(field);
  const column =
    field === 'date'
      ? (dateOf(query) ?? METRIC_COLUMNS.request_count)
      : field in METRIC_COLUMNS
        ? valueOf(isOfMissing ? 'request_count' : (field as MetricName))
        : shown(field as DimensionName);
  const order = [`${column} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`, ...expressions].join(', ');
  const selected = [
    ...groups.map(({ name, expression }) => `${expression} AS "${name}"`),
    ...metrics.map((name) => `${valueOf(name)} AS "${name}"`),
  ];
  const from = `FROM ${allRows(query, sources, parameters)}
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

/** The latencies, or times to the first token, of the groups of a result, counted by bucket. */
export function readLatencies(
  query: AnalyticsQuery,
  result: readonly AnalyticsRow[],
  sources: readonly AnalyticsSources[],
  timing: Timing,
): Statement {
  const parameters = new Parameters();
  const { column, ofEntry } = BUCKETS[timing];
  const filters = filtersOf(query.dimensions, result);
  const ofResult = sources.map((scope) => ({
    ...scope,
    query: { ...scope.query, filters: [...scope.query.filters, ...filters] },
  }));
  const groups = groupsOf(query);
  const names = groups.map(({ name }) => `"${name}", `).join('');
  const partsOf = (isSum: boolean, own: string): string =>
    ofResult
      .flatMap((scope) =>
        scope.parts
          .filter(({ source }) => (typeof source !== 'string') === isSum)
          .map((part) => rowsOfPart(part, scope, { own }, parameters)),
      )
      .join('\n    UNION ALL ');
  const ofSums = partsOf(true, column);
  const ofLog = partsOf(false, `${ofEntry} AS bucket, 1 AS requests`);
  const ofHistory = sources.flatMap(({ history }) =>
    timing === 'latency' && history ? [rowsOfHistory(query, history, { own: 'bucket' }, parameters)] : [],
  );
  const ofRows = [ofLog, ...ofHistory].filter((rows) => rows !== '').join('\n    UNION ALL ');
  const counted = [
    ofSums === ''
      ? ''
      : `
  SELECT ${names}bucket - 1 AS bucket, requests FROM (
    SELECT ${named(groups)}${forBuckets((bucket) => `sum(${column}[${bucket + 1}])`)} AS counts
    FROM (${ofSums}) AS entry ${groupBy(keysOf(groups))}
  ) AS summed CROSS JOIN LATERAL unnest(counts) WITH ORDINALITY AS counted (requests, bucket)
  WHERE requests > 0`,
    ofRows === ''
      ? ''
      : `
  SELECT ${named(groups)}bucket, sum(requests) AS requests
  FROM (${ofRows}) AS entry WHERE bucket IS NOT NULL ${groupBy([...keysOf(groups), 'bucket'])}`,
  ].filter((rows) => rows !== '');
  return {
    text: `
SELECT ${names}bucket::integer AS bucket, sum(requests)::float8 AS requests FROM (${counted.join('\n  UNION ALL')}
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
