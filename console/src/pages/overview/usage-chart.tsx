// One measure of the range over time.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { analyticsQuery, numberOrNull, refusedShare } from '../../api/analytics';
import type { AnalyticsRow } from '../../api/analytics';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { TimeSeries } from '../../components/chart/lazy-chart';
import type { TimeSeriesProps } from '../../components/chart/time-series';
import { useNow } from '../../components/display/clock';
import { Section } from '../../components/display/section';
import { ErrorState, Placeholder } from '../../components/feedback/states';
import {
  formatCount,
  formatCountShort,
  formatDuration,
  formatAmount,
  formatMoneyShort,
  formatPercent,
  formatPercentExact,
} from '../../format';
import { MEASURES } from './overview-search';
import type { Measure, Range } from './overview-search';
import styles from './overview.module.css';
import { RANGE_DEFINITIONS, sinceFirstRow, timeRangeOf, timesOf, valuesAt } from './ranges';

interface ChartDefinition extends Pick<
  TimeSeriesProps,
  'label' | 'shape' | 'format' | 'formatAxis' | 'isWhole'
> {
  readonly name: string;
  readonly lines: readonly {
    readonly name: string;
    readonly valueOf: (row: AnalyticsRow) => number | null;
  }[];
  /** In a period without a call. */
  readonly absent: number | null;
}

const metric = (name: string) => (row: AnalyticsRow) => numberOrNull(row, name);

const CHARTS = {
  calls: {
    name: 'Calls',
    label: 'Calls',
    lines: [{ name: 'Calls', valueOf: metric('request_count') }],
    isWhole: true,
    absent: 0,
    shape: 'bars',
    format: formatCount,
    formatAxis: formatCountShort,
  },
  spend: {
    name: 'Spend',
    label: 'Spend in USD',
    lines: [{ name: 'Spend in USD', valueOf: metric('total_usage') }],
    absent: 0,
    shape: 'bars',
    format: formatAmount,
    formatAxis: formatMoneyShort,
  },
  tokens: {
    name: 'Tokens',
    label: 'Tokens of prompts and answers',
    lines: [{ name: 'Tokens', valueOf: metric('total_tokens') }],
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
      { name: 'Failed, of those that were accepted', valueOf: metric('error_rate') },
      { name: 'Refused, of all', valueOf: refusedShare },
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
      { name: 'Median (p50)', valueOf: metric('latency_p50') },
      { name: '95th percentile (p95)', valueOf: metric('latency_p95') },
    ],
    absent: null,
    shape: 'line',
    format: formatDuration,
    formatAxis: formatDuration,
  },
} as const satisfies Readonly<Record<Measure, ChartDefinition>>;

interface UsageChartProps {
  readonly workspaceId: string;
  readonly range: Range;
  readonly measure: Measure;
}

export function UsageChart({ workspaceId, range, measure }: UsageChartProps) {
  const { data, error, refetch, dataUpdatedAt } = useQuery({
    ...analyticsQuery(['series', workspaceId, range], (now) => ({
      metrics: [
        'request_count',
        'refused_count',
        'error_rate',
        'total_tokens',
        'total_usage',
        'latency_p50',
        'latency_p95',
      ],
      granularity: RANGE_DEFINITIONS[range].granularity,
      filters: [{ field: 'workspace', operator: 'eq', value: workspaceId }],
      time_range: timeRangeOf(range, now),
      limit: 1000,
    })),
    refetchInterval: 15_000,
  });
  const { start } = timeRangeOf(range, useNow());
  return (
    <Section
      title="Over time"
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
          <Link to="/generations" search={{ from: start }} className={styles.more}>
            View generations
          </Link>
        </>
      }
    >
      {data !== undefined ? (
        <Chart {...{ range, measure }} rows={data} loadedAt={dataUpdatedAt} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Placeholder lines={8} />
      )}
    </Section>
  );
}

interface ChartProps extends Pick<UsageChartProps, 'range' | 'measure'> {
  readonly rows: readonly AnalyticsRow[];
  readonly loadedAt: number;
}

function Chart({ range, measure, rows, loadedAt }: ChartProps) {
  const { name: _name, lines, absent, ...chart }: ChartDefinition = CHARTS[measure];
  const { granularity, period } = RANGE_DEFINITIONS[range];
  const times = useMemo(() => sinceFirstRow(timesOf(range, loadedAt), rows), [range, loadedAt, rows]);
  const series = useMemo(
    () => lines.map(({ name, valueOf }) => ({ name, values: valuesAt(times, rows, valueOf, absent) })),
    [times, rows, lines, absent],
  );
  return <TimeSeries {...{ times, series, period }} isDaily={granularity === 'day'} {...chart} />;
}
