// The calls of one key in the last 30 days, by model.
import { useQuery } from '@tanstack/react-query';
import { analyticsQuery, numberOf, numberOrNull, textOf } from '../../api/analytics';
import type { AnalyticsQuery, AnalyticsRow } from '../../api/analytics';
import { isoTime } from '../../api/iso-time';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Section } from '../../components/display/section';
import { Absent, ModelId, Money } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount, formatDuration, formatPercent } from '../../format';
import styles from './keys.module.css';

const DAY_MS = 86_400_000;
const DAYS = 30;

/** The metrics of `USAGE_COLUMNS`. */
export const USAGE_METRICS = [
  'request_count',
  'error_rate',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_usage',
  'latency_p50',
  'latency_p95',
  'time_to_first_token_p50',
] satisfies AnalyticsQuery['metrics'];

/** Columns of analytics rows by one dimension. */
export const USAGE_COLUMNS: readonly Column<AnalyticsRow>[] = [
  { id: 'calls', header: 'Calls', align: 'end', cell: (row) => formatCount(numberOf(row, 'request_count')) },
  {
    id: 'errors',
    header: 'Errors',
    align: 'end',
    priority: 2,
    cell: (row) => formatPercent(numberOf(row, 'error_rate')),
  },
  {
    id: 'tokens',
    header: 'Tokens',
    align: 'end',
    priority: 3,
    cell: (row) => <Tokens row={row} />,
  },
  {
    id: 'p50',
    header: 'p50',
    align: 'end',
    priority: 2,
    cell: (row) => <Latency row={row} metric="latency_p50" />,
  },
  {
    id: 'p95',
    header: 'p95',
    align: 'end',
    priority: 3,
    cell: (row) => <Latency row={row} metric="latency_p95" />,
  },
  {
    id: 'first-token',
    header: 'First token',
    align: 'end',
    priority: 3,
    cell: (row) => <Latency row={row} metric="time_to_first_token_p50" />,
  },
  { id: 'spend', header: 'Spend', align: 'end', cell: (row) => <Money usd={numberOf(row, 'total_usage')} /> },
];

/** Both sides where there are answers; embeddings have prompts alone. */
function Tokens({ row }: { readonly row: AnalyticsRow }) {
  const answers = numberOf(row, 'completion_tokens');
  const total = formatCount(numberOf(row, 'total_tokens'));
  if (answers === 0) return total;
  return (
    <span className={styles.stack}>
      {total}
      <span className={styles.muted}>
        {formatCount(numberOf(row, 'prompt_tokens'))} prompt, {formatCount(answers)} answer
      </span>
    </span>
  );
}

function Latency({ row, metric }: { readonly row: AnalyticsRow; readonly metric: string }) {
  const value = numberOrNull(row, metric);
  return value === null ? <Absent /> : formatDuration(value);
}

const COLUMNS: readonly Column<AnalyticsRow>[] = [
  { id: 'model', header: 'Model', cell: (row) => <ModelId id={textOf(row, 'model') ?? 'Unknown model'} /> },
  ...USAGE_COLUMNS,
];

const startOfDay = (now: number): number => now - (now % DAY_MS);

export function KeyUsage({ hash }: { readonly hash: string }) {
  const { data, error, refetch } = useQuery(
    analyticsQuery(['key-usage', hash], (now) => ({
      metrics: [...USAGE_METRICS],
      dimensions: ['model'],
      filters: [{ field: 'api_key_id', operator: 'eq', value: hash }],
      // Whole days, which the service answers from its sums.
      time_range: {
        start: isoTime(startOfDay(now) - DAYS * DAY_MS),
        end: isoTime(startOfDay(now) + DAY_MS),
      },
      order_by: { field: 'request_count', direction: 'desc' },
      limit: 50,
    })),
  );
  return (
    <Section title="Usage by model" description="The last 30 days." isFlush>
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Usage by model"
          columns={COLUMNS}
          rows={data}
          rowKey={(row) => textOf(row, 'model') ?? ''}
          empty={<EmptyState title="No call in the last 30 days" />}
        />
      )}
    </Section>
  );
}
