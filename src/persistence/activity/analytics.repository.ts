// Answers analytics queries with one statement each, built from the closed lists of domain/analytics.ts.
import { Injectable } from '@nestjs/common';
import type {
  AnalyticsQuery,
  AnalyticsRow,
  DimensionName,
  MetricName,
} from '../../domain/generations/analytics.js';
import { Reports } from '../database/reports.js';

// 499: the caller left, and nothing has failed.
const FAILED = 'count(*) FILTER (WHERE status >= 400 AND status <> 499)';
/** Milliseconds with three decimals: more is noise of the database's arithmetic. */
const rounded = (expression: string): string => `round((${expression})::numeric, 3)::float8`;
const percentile = (share: number): string =>
  rounded(`percentile_cont(${share}) WITHIN GROUP (ORDER BY duration_ms)`);

const METRIC_COLUMNS: Readonly<Record<MetricName, string>> = {
  request_count: 'count(*)::float8',
  error_count: `${FAILED}::float8`,
  error_rate: `(${FAILED})::float8 / count(*)`,
  input_count: 'sum(input_count)::float8',
  prompt_tokens: 'sum(prompt_tokens)::float8',
  completion_tokens: 'coalesce(sum(completion_tokens), 0)::float8',
  reasoning_tokens: 'coalesce(sum(reasoning_tokens), 0)::float8',
  cached_tokens: 'coalesce(sum(cached_tokens), 0)::float8',
  total_tokens: 'sum(total_tokens)::float8',
  total_usage: 'coalesce(sum(cost), 0)::float8',
  byok_usage: 'coalesce(sum(upstream_cost) FILTER (WHERE is_byok), 0)::float8',
  latency_avg: rounded('avg(duration_ms)'),
  latency_p50: percentile(0.5),
  latency_p90: percentile(0.9),
  latency_p95: percentile(0.95),
  latency_p99: percentile(0.99),
};

const DIMENSION_COLUMNS: Readonly<Record<DimensionName, string>> = {
  model: 'model',
  provider: 'provider',
  endpoint: 'endpoint',
  api_key_id: 'api_key_id::text',
  user: 'user_id',
  workspace: 'workspace_id::text',
  status: 'status::text',
  error_type: 'error_type',
};

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

@Injectable()
export class AnalyticsRepository {
  constructor(private readonly reports: Reports) {}

  /** One row more than the limit where there are more. */
  async query(query: AnalyticsQuery): Promise<readonly AnalyticsRow[]> {
    return this.reports.read<AnalyticsRow & Record<string, string | number | null>>(
      query.accountId,
      build(query),
    );
  }
}

function build(query: AnalyticsQuery): Statement {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const date =
    query.granularity === null
      ? null
      : `to_char(date_trunc('${query.granularity}', created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
  const dimensions = query.dimensions.map((name) => DIMENSION_COLUMNS[name]);
  const groups = [...(date === null ? [] : [date]), ...dimensions];
  const columns = [
    ...(date === null ? [] : [`${date} AS date`]),
    ...query.dimensions.map((name) => `${DIMENSION_COLUMNS[name]} AS "${name}"`),
    ...query.metrics.map((name) => `${METRIC_COLUMNS[name]} AS "${name}"`),
  ];
  const conditions = [
    `workspace_id = ANY(${parameter(query.workspaceIds)}::uuid[])`,
    `created_at >= ${parameter(query.from)}`,
    `created_at < ${parameter(query.to)}`,
    ...query.filters.map(({ dimension, isNot, values: wanted }) => {
      const isOne = `${DIMENSION_COLUMNS[dimension]} = ANY(${parameter(wanted)}::text[])`;
      return isNot ? `(${isOne}) IS NOT TRUE` : isOne;
    }),
  ];
  // The requested order comes first; the groups make the order total.
  const order = [orderOf(query, date), ...groups].join(', ');
  const partition = dimensions.length === 0 ? '' : `PARTITION BY ${dimensions.join(', ')} `;
  const outer = ['date', ...query.dimensions, ...query.metrics].filter(
    (name) => name !== 'date' || date !== null,
  );
  return {
    text: `
SELECT ${outer.map((name) => `"${name}"`).join(', ')} FROM (
  SELECT ${columns.join(', ')}, row_number() OVER (ORDER BY ${order}) AS "position",
    row_number() OVER (${partition}ORDER BY ${order}) AS "position_in_group"
  FROM generations WHERE ${conditions.join(' AND ')}
  ${groups.length === 0 ? 'HAVING count(*) > 0' : `GROUP BY ${groups.join(', ')}`}
) AS grouped
WHERE "position_in_group" <= ${parameter(query.groupLimit ?? query.limit + 1)}
ORDER BY "position" LIMIT ${parameter(query.limit + 1)}`,
    values,
  };
}

/** The default order is by time, or by the first metric in descending order. */
function orderOf({ orderBy, metrics }: AnalyticsQuery, date: string | null): string {
  const [first = 'request_count'] = metrics;
  const { field, isDescending } = orderBy ?? {
    field: date === null ? first : ('date' as const),
    isDescending: date === null,
  };
  const column =
    field === 'date'
      ? (date ?? METRIC_COLUMNS.request_count)
      : field in METRIC_COLUMNS
        ? METRIC_COLUMNS[field as MetricName]
        : DIMENSION_COLUMNS[field as DimensionName];
  return `${column} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`;
}
