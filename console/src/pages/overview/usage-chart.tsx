// One measure of the range over time.
import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { analyticsQuery, numberOrNull, refusedShare, textOf, withinWorkspace } from '../../api/analytics';
import type { AnalyticsRow } from '../../api/analytics';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { ChartPlaceholder, TimeSeries } from '../../components/chart/lazy-chart';
import type { TimeSeriesProps } from '../../components/chart/time-series';
import { useNow } from '../../components/display/clock';
import { Section } from '../../components/display/section';
import { ErrorState } from '../../components/feedback/states';
import {
  formatCount,
  formatCountShort,
  formatDuration,
  formatAmount,
  formatMoneyShort,
  formatPercent,
  formatPercentExact,
} from '../../format';
import { hasShares, MODEL_LABELS, modelMetric, modelSeriesQuery } from './model-series';
import { MEASURES } from './overview-search';
import type { Measure, Range } from './overview-search';
import styles from './overview.module.css';
import { RANGE_DEFINITIONS, sinceFirstRow, timeRangeOf, timesOf, valuesAt } from './ranges';

interface Line {
  readonly name: string;
  readonly read: (row: AnalyticsRow) => number | null;
}

interface ChartDefinition extends Pick<
  TimeSeriesProps,
  'label' | 'shape' | 'format' | 'formatAxis' | 'isWhole'
> {
  readonly name: string;
  readonly lines: readonly Line[];
  /** In a period without a call. */
  readonly absent: number | null;
}

const metric = (name: string) => (row: AnalyticsRow) => numberOrNull(row, name);

const CHARTS = {
  calls: {
    name: 'Calls',
    label: 'Calls',
    lines: [{ name: 'Calls', read: metric('request_count') }],
    isWhole: true,
    absent: 0,
    shape: 'bars',
    format: formatCount,
    formatAxis: formatCountShort,
  },
  spend: {
    name: 'Spend',
    label: 'Spend in USD',
    lines: [{ name: 'Spend in USD', read: metric('total_usage') }],
    absent: 0,
    shape: 'bars',
    format: formatAmount,
    formatAxis: formatMoneyShort,
  },
  tokens: {
    name: 'Tokens',
    label: 'Tokens of prompts and answers',
    lines: [{ name: 'Tokens', read: metric('total_tokens') }],
    isWhole: true,
    absent: 0,
    shape: 'bars',
    format: formatCount,
    formatAxis: formatCountShort,
  },
  errors: {
    name: 'Errors',
    label: 'Share of calls that failed or were refused',
    lines: [
      { name: 'Failed, of those that were accepted', read: metric('error_rate') },
      { name: 'Refused, of all', read: refusedShare },
    ],
    absent: null,
    shape: 'line',
    format: formatPercent,
    formatAxis: formatPercentExact,
  },
  latency: {
    name: 'Latency',
    label: 'Latency: median and 95th percentile',
    lines: [
      { name: 'Median (p50)', read: metric('latency_p50') },
      { name: '95th percentile (p95)', read: metric('latency_p95') },
    ],
    absent: null,
    shape: 'line',
    format: formatDuration,
    formatAxis: formatDuration,
  },
  'first-token': {
    name: 'First token',
    label: 'Time to the first token of streamed chats: median and 95th percentile',
    lines: [
      { name: 'Median (p50)', read: metric('time_to_first_token_p50') },
      { name: '95th percentile (p95)', read: metric('time_to_first_token_p95') },
    ],
    absent: null,
    shape: 'line',
    format: formatDuration,
    formatAxis: formatDuration,
  },
} as const satisfies Readonly<Record<Measure, ChartDefinition>>;

const SHARES = { p50: 'Median', p95: '95th percentile' } as const;

interface UsageChartProps {
  readonly workspaceId: string | null;
  readonly range: Range;
  readonly measure: Measure;
  readonly each: 'model' | undefined;
  readonly share: 'p95' | undefined;
}

export function UsageChart({ measure, each, share, ...scope }: UsageChartProps) {
  const { start } = timeRangeOf(scope.range, useNow());
  return (
    <Section
      title="Over time"
      description={each && 'The five models with most calls.'}
      actions={
        <>
          <ChoiceLinks label="Measure">
            {MEASURES.map((choice) => (
              <Link
                key={choice}
                to="."
                search={(search) => ({ ...search, measure: choice })}
                aria-current={choice === measure ? 'true' : undefined}
              >
                {CHARTS[choice].name}
              </Link>
            ))}
          </ChoiceLinks>
          <ChoiceLinks label="Lines">
            {([undefined, 'model'] as const).map((choice) => (
              <Link
                key={choice ?? ''}
                to="."
                search={(search) => ({ ...search, each: choice })}
                activeOptions={{ explicitUndefined: true }}
                aria-current={choice === each ? 'true' : undefined}
              >
                {choice === undefined ? 'Together' : 'Each model'}
              </Link>
            ))}
          </ChoiceLinks>
          {each !== undefined && hasShares(measure) && (
            <ChoiceLinks label="Percentile">
              {([undefined, 'p95'] as const).map((choice) => (
                <Link
                  key={choice ?? ''}
                  to="."
                  search={(search) => ({ ...search, share: choice })}
                  activeOptions={{ explicitUndefined: true }}
                  aria-current={choice === share ? 'true' : undefined}
                >
                  {SHARES[choice ?? 'p50']}
                </Link>
              ))}
            </ChoiceLinks>
          )}
          <Link to="/generations" search={{ from: start }} className={styles.more}>
            View generations
          </Link>
        </>
      }
    >
      {each === undefined ? (
        <Together {...scope} measure={measure} />
      ) : (
        <EachModel {...scope} measure={measure} share={share} />
      )}
    </Section>
  );
}

type LinesProps = Omit<UsageChartProps, 'each' | 'share'>;

function Together({ workspaceId, range, measure }: LinesProps) {
  const answer = useQuery({
    ...analyticsQuery(['series', workspaceId, range], (now) => ({
      metrics: [
        'request_count',
        'refused_count',
        'error_rate',
        'total_tokens',
        'total_usage',
        'latency_p50',
        'latency_p95',
        'time_to_first_token_p50',
        'time_to_first_token_p95',
      ],
      granularity: RANGE_DEFINITIONS[range].granularity,
      filters: withinWorkspace(workspaceId),
      time_range: timeRangeOf(range, now),
      limit: 1000,
    })),
    refetchInterval: 15_000,
  });
  const { data: rows } = answer;
  const lines = useMemo(
    () => rows && CHARTS[measure].lines.map((line) => ({ ...line, rows })),
    [rows, measure],
  );
  return <Chart {...{ range, measure, lines, answer }} />;
}

function EachModel({ workspaceId, range, measure, share }: LinesProps & Pick<UsageChartProps, 'share'>) {
  const answer = useQuery({ ...modelSeriesQuery(workspaceId, range), refetchInterval: 15_000 });
  const { data } = answer;
  const lines = useMemo(
    () =>
      data?.models
        .map((model) => ({
          name: model,
          read: metric(modelMetric(measure, share)),
          rows: data.rows.filter((row) => textOf(row, 'model') === model),
        }))
        // Embedding models have no first token.
        .filter(({ read, rows }) => measure !== 'first-token' || rows.some((row) => read(row) !== null)),
    [data, measure, share],
  );
  const label = hasShares(measure)
    ? `${CHARTS[measure].name}: ${share === undefined ? 'median' : SHARES[share]}`
    : MODEL_LABELS[measure];
  return <Chart {...{ range, measure, lines, answer }} label={label} />;
}

interface ChartProps extends Pick<LinesProps, 'range' | 'measure'> {
  /** Undefined while they load. */
  readonly lines: readonly (Line & { readonly rows: readonly AnalyticsRow[] })[] | undefined;
  readonly answer: Pick<UseQueryResult, 'error' | 'refetch' | 'dataUpdatedAt'>;
  /** Absent: that of the measure. */
  readonly label?: string | undefined;
}

function Chart({ range, measure, lines, answer, label }: ChartProps) {
  const { name: _name, lines: _lines, absent, ...chart }: ChartDefinition = CHARTS[measure];
  const { granularity, period } = RANGE_DEFINITIONS[range];
  const { error, refetch, dataUpdatedAt: loadedAt } = answer;
  const times = useMemo(
    () => sinceFirstRow(timesOf(range, loadedAt), lines?.flatMap(({ rows }) => rows) ?? []),
    [range, loadedAt, lines],
  );
  const series = useMemo(
    () => lines?.map(({ name, read, rows }) => ({ name, values: valuesAt(times, rows, read, absent) })),
    [times, lines, absent],
  );
  if (series !== undefined) {
    return (
      <TimeSeries
        {...{ times, series, period }}
        {...chart}
        label={label ?? chart.label}
        isDaily={granularity === 'day'}
      />
    );
  }
  return error === null ? <ChartPlaceholder /> : <ErrorState error={error} onRetry={() => void refetch()} />;
}
