// The measures of the models with most calls, period by period.
import { queryOptions } from '@tanstack/react-query';
import { loadAnalytics, textOf, withinWorkspace } from '../../api/analytics';
import type { AnalyticsQuery, AnalyticsRow } from '../../api/analytics';
import type { Measure, Range } from './overview-search';
import { RANGE_DEFINITIONS, timeRangeOf } from './ranges';

// As many as colours tell apart; the longest range has fewer rows for them than an answer.
const MOST_MODELS = 5;
const MOST_ROWS = 1000;

/** Refused calls reach no model. */
const MODEL_METRICS = {
  calls: 'request_count',
  spend: 'total_usage',
  tokens: 'total_tokens',
  errors: 'error_rate',
  latency: 'latency_p50',
  'first-token': 'time_to_first_token_p50',
} as const satisfies Readonly<Record<Measure, AnalyticsQuery['metrics'][number]>>;

/** Where a model has another measure than all of them together. */
export const MODEL_LABELS: Readonly<Partial<Record<Measure, string>>> = {
  errors: 'Share of calls that failed',
};

/** Measures with two percentiles: of one model each there is room for one. */
export const SLOWEST_METRICS = {
  latency: 'latency_p95',
  'first-token': 'time_to_first_token_p95',
} as const satisfies Partial<Record<Measure, AnalyticsQuery['metrics'][number]>>;
export const hasShares = (measure: Measure): measure is keyof typeof SLOWEST_METRICS =>
  measure in SLOWEST_METRICS;

export const modelMetric = (measure: Measure, share: 'p95' | undefined): string =>
  share !== undefined && hasShares(measure) ? SLOWEST_METRICS[measure] : MODEL_METRICS[measure];

interface ModelSeries {
  /** Most calls first. */
  readonly models: readonly string[];
  readonly rows: readonly AnalyticsRow[];
}

export const modelSeriesQuery = (workspaceId: string | null, range: Range) =>
  queryOptions({
    queryKey: ['analytics', 'models', workspaceId, range],
    queryFn: async ({ signal }): Promise<ModelSeries> => {
      const ofRange = { dimensions: ['model' as const], time_range: timeRangeOf(range, Date.now()) };
      const ofWorkspace = withinWorkspace(workspaceId);
      const leading = await loadAnalytics(
        {
          ...ofRange,
          metrics: ['request_count'],
          filters: ofWorkspace,
          order_by: { field: 'request_count', direction: 'desc' },
          limit: MOST_MODELS,
        },
        signal,
      );
      const models = leading.rows.map((row) => textOf(row, 'model')).filter((model) => model !== null);
      if (models.length === 0) return { models, rows: [] };
      const { rows } = await loadAnalytics(
        {
          ...ofRange,
          metrics: [...Object.values(MODEL_METRICS), ...Object.values(SLOWEST_METRICS)],
          filters: [...ofWorkspace, { field: 'model', operator: 'in', value: models }],
          granularity: RANGE_DEFINITIONS[range].granularity,
          limit: MOST_ROWS,
        },
        signal,
      );
      return { models, rows };
    },
    staleTime: 15_000,
  });
