// The calls of the person's keys, by day and model.
import { useQuery } from '@tanstack/react-query';
import { numberOf, textOf, timeOf } from '../../api/analytics';
import type { AnalyticsRow } from '../../api/analytics';
import { ownUsageQuery } from '../../api/my-keys';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Section } from '../../components/display/section';
import { Absent, ModelId, Money } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount, formatUtcDay } from '../../format';

const dayOf = (row: AnalyticsRow): string => new Date(timeOf(row)).toISOString();
const modelOf = (row: AnalyticsRow): string => textOf(row, 'model') ?? 'Unknown model';

const COLUMNS: readonly Column<AnalyticsRow>[] = [
  { id: 'day', header: 'Day (UTC)', isWhole: true, cell: (row) => formatUtcDay(dayOf(row)) },
  { id: 'model', header: 'Model', cell: (row) => <ModelId id={modelOf(row)} /> },
  { id: 'calls', header: 'Calls', align: 'end', cell: (row) => formatCount(numberOf(row, 'request_count')) },
  {
    id: 'failed',
    header: 'Failed',
    align: 'end',
    priority: 2,
    cell: (row) => formatCount(numberOf(row, 'error_count')),
  },
  {
    id: 'prompt',
    header: 'Prompt tokens',
    align: 'end',
    priority: 2,
    cell: (row) => formatCount(numberOf(row, 'prompt_tokens')),
  },
  {
    id: 'answer',
    header: 'Answer tokens',
    align: 'end',
    priority: 3,
    cell: (row) => formatCount(numberOf(row, 'completion_tokens')),
  },
  {
    id: 'byok',
    header: 'With own provider keys',
    align: 'end',
    priority: 3,
    cell: (row) =>
      numberOf(row, 'byok_usage') === 0 ? <Absent /> : <Money usd={numberOf(row, 'byok_usage')} />,
  },
  { id: 'spend', header: 'Spend', align: 'end', cell: (row) => <Money usd={numberOf(row, 'total_usage')} /> },
];

interface OwnUsageProps {
  readonly workspaceId: string;
  readonly hashes: readonly string[] | null;
}

export function OwnUsage({ workspaceId, hashes }: OwnUsageProps) {
  const { data, error, refetch } = useQuery(ownUsageQuery(workspaceId, hashes));
  return (
    <Section title="Usage by day and model" description="The last 30 days." isFlush>
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Usage by day and model"
          columns={COLUMNS}
          rows={data}
          rowKey={(row) => `${dayOf(row)} ${modelOf(row)}`}
          empty={<EmptyState title="No call in the last 30 days" />}
        />
      )}
    </Section>
  );
}
