// Usage of the range by model or by key. Each row leads to its generations.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { analyticsQuery, loadAnalytics, numberOrNull, textOf, withinWorkspace } from '../../api/analytics';
import type { AnalyticsQuery, AnalyticsRow } from '../../api/analytics';
import { csvOf, saveCsv } from '../../api/csv';
import { keyNamesQuery } from '../../api/key-names';
import { ChoiceLinks } from '../../components/actions/choice-links';
import { SaveButton } from '../../components/actions/csv-button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { KeyName } from '../../components/data/key-name';
import { useNow } from '../../components/display/clock';
import { Section } from '../../components/display/section';
import { ModelId } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { USAGE_COLUMNS, USAGE_METRICS } from '../keys/key-usage';
import type { Grouping, Range } from './overview-search';
import { timeRangeOf } from './ranges';

const DIMENSIONS = { model: 'model', key: 'api_key_id' } as const;
const LABELS = { model: 'By model', key: 'By key' } as const;
const ROWS = 10;
// The longest answer.
const ALL_ROWS = 1000;

interface UsageTableProps {
  readonly workspaceId: string | null;
  readonly range: Range;
  readonly by: Grouping;
}

export function UsageTable({ workspaceId, range, by }: UsageTableProps) {
  const dimension = DIMENSIONS[by];
  const from = timeRangeOf(range, useNow()).start;
  const question = (now: number, limit: number): AnalyticsQuery => ({
    metrics: [...USAGE_METRICS],
    dimensions: [dimension],
    filters: withinWorkspace(workspaceId),
    time_range: timeRangeOf(range, now),
    order_by: { field: by === 'key' ? 'total_usage' : 'request_count', direction: 'desc' },
    limit,
  });
  const { data, error, refetch } = useQuery({
    ...analyticsQuery(['grouped', workspaceId, range, by], (now) => question(now, ROWS)),
    refetchInterval: 15_000,
  });
  const client = useQueryClient();
  /** All rows, with the columns of the table. */
  const save = async () => {
    const { rows, isTruncated } = await loadAnalytics(question(Date.now(), ALL_ROWS));
    const names = by === 'key' ? await client.fetchQuery(keyNamesQuery(workspaceId)) : null;
    saveCsv(`${by}s-${range}`, [
      csvOf(
        [...(names === null ? [] : ['key_name']), dimension, ...USAGE_METRICS],
        rows.map((row) => {
          const value = textOf(row, dimension);
          const name = names === null ? [] : [names.get(value ?? '') ?? null];
          return [name, value, USAGE_METRICS.map((metric) => numberOrNull(row, metric))].flat();
        }),
      ),
    ]);
    return { isWhole: !isTruncated };
  };
  const columns = [groupColumn(by, from), ...USAGE_COLUMNS];
  return (
    <Section
      title={by === 'model' ? 'Models' : 'Top keys'}
      description={by === 'model' ? 'Most calls first.' : 'Highest spend first.'}
      isFlush
      actions={
        <>
          <SaveButton save={save} />
          <ChoiceLinks label="Group">
            {(['model', 'key'] as const).map((choice) => (
              <Link
                key={choice}
                to="."
                search={(search) => ({ ...search, by: choice })}
                aria-current={choice === by ? 'true' : undefined}
              >
                {LABELS[choice]}
              </Link>
            ))}
          </ChoiceLinks>
        </>
      }
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption={LABELS[by]}
          columns={columns}
          rows={data}
          rowKey={(row) => textOf(row, dimension) ?? ''}
          empty={<EmptyState title="No call in this range">Choose a longer range.</EmptyState>}
        />
      )}
    </Section>
  );
}

function groupColumn(by: Grouping, from: string): Column<AnalyticsRow> {
  return by === 'model'
    ? { id: by, header: 'Model', cell: (row) => modelCell(textOf(row, DIMENSIONS.model), from) }
    : { id: by, header: 'Key', cell: (row) => keyCell(textOf(row, DIMENSIONS.key), from) };
}

function modelCell(model: string | null, from: string) {
  if (model === null) return 'Unknown model';
  return (
    <Link to="/generations" search={{ model, from }}>
      <ModelId id={model} />
    </Link>
  );
}

function keyCell(hash: string | null, from: string) {
  if (hash === null) return 'Deleted key';
  return (
    <Link to="/generations" search={{ key: hash, from }}>
      <KeyName hash={hash} />
    </Link>
  );
}
