// The analytics query in closed lists, so that no text of a caller becomes part of a statement
// (docs/contract.md#activity-and-analytics).
import type { KeyScope } from './call-reach.js';

interface AnalyticsMetric {
  readonly label: string;
  readonly format: 'number' | 'currency' | 'percent' | 'latency';
  /** Cannot be summed over rows. */
  readonly isRate: boolean;
}

const COUNT = { format: 'number', isRate: false } as const;
const USD = { format: 'currency', isRate: false } as const;
const LATENCY = { format: 'latency', isRate: true } as const;

export const METRICS = {
  request_count: { label: 'Requests', ...COUNT },
  error_count: { label: 'Failed requests', ...COUNT },
  refused_count: { label: 'Refused requests', ...COUNT },
  error_rate: { label: 'Share of failed requests', format: 'percent', isRate: true },
  input_count: { label: 'Inputs', ...COUNT },
  prompt_tokens: { label: 'Prompt tokens', ...COUNT },
  completion_tokens: { label: 'Completion tokens', ...COUNT },
  reasoning_tokens: { label: 'Reasoning tokens', ...COUNT },
  cached_tokens: { label: 'Prompt tokens read from the cache', ...COUNT },
  total_tokens: { label: 'Tokens', ...COUNT },
  total_usage: { label: 'Spend', ...USD },
  byok_usage: { label: 'Spend through own provider keys', ...USD },
  latency_avg: { label: 'Latency, mean', ...LATENCY },
  latency_p50: { label: 'Latency, median', ...LATENCY },
  latency_p90: { label: 'Latency, 90th percentile', ...LATENCY },
  latency_p95: { label: 'Latency, 95th percentile', ...LATENCY },
  latency_p99: { label: 'Latency, 99th percentile', ...LATENCY },
  // Of streamed chats.
  time_to_first_token_p50: { label: 'Time to first token, median', ...LATENCY },
  time_to_first_token_p95: { label: 'Time to first token, 95th percentile', ...LATENCY },
} as const satisfies Record<string, AnalyticsMetric>;
export type MetricName = keyof typeof METRICS;

export const DIMENSIONS = {
  model: 'Model',
  provider: 'Provider',
  endpoint: 'Endpoint',
  api_key_id: 'API key',
  user: 'User',
  workspace: 'Workspace',
  status: 'Status',
  error_type: 'Kind of error',
  refusal_reason: 'Reason of a refusal',
} as const;
export type DimensionName = keyof typeof DIMENSIONS;

export const GRANULARITIES = {
  minute: 'Minute',
  hour: 'Hour',
  day: 'Day',
  week: 'Week',
  month: 'Month',
} as const;
export type Granularity = keyof typeof GRANULARITIES;

export const OPERATORS = {
  eq: 'scalar',
  neq: 'scalar',
  in: 'array',
  not_in: 'array',
} as const;
export type OperatorName = keyof typeof OPERATORS;

/** `isNot`: all other values, and rows without a value. */
export interface AnalyticsFilter {
  readonly dimension: DimensionName;
  readonly isNot: boolean;
  readonly values: readonly string[];
}

export interface AnalyticsQuery {
  readonly accountId: string;
  readonly workspaceIds: readonly string[];
  /** Beside those the calls of these keys, in other workspaces. */
  readonly ownKeys?: KeyScope | undefined;
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly metrics: readonly MetricName[];
  readonly dimensions: readonly DimensionName[];
  readonly granularity: Granularity | null;
  readonly filters: readonly AnalyticsFilter[];
  readonly orderBy: AnalyticsOrder | null;
  readonly limit: number;
  /** Rows per combination of dimensions; null: no bound. */
  readonly groupLimit: number | null;
}

export interface AnalyticsOrder {
  readonly field: MetricName | DimensionName | 'date';
  readonly isDescending: boolean;
}

/** By the names of the requested metrics and dimensions, and `date`. */
export type AnalyticsRow = Readonly<Record<string, string | number | null>>;

/** Refused calls are no generations: they have these dimensions alone. */
export const REFUSAL_DIMENSIONS: ReadonlySet<DimensionName> = new Set([
  'api_key_id',
  'workspace',
  'refusal_reason',
]);

/** The names of a closed list, in its order. */
export function namesOf<Name extends string>(list: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(list) as Name[];
}
