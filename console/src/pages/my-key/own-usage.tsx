// The calls of the key of the session, by day and model.
import { useQuery } from '@tanstack/react-query';
import { ownUsageQuery } from '../../api/keys';
import type { OwnUsage } from '../../api/keys';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Section } from '../../components/display/section';
import { Absent, Money, Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount, formatUtcDay } from '../../format';

const COLUMNS: readonly Column<OwnUsage>[] = [
  { id: 'day', header: 'Day (UTC)', isWhole: true, cell: ({ date }) => formatUtcDay(date) },
  { id: 'model', header: 'Model', cell: ({ model }) => <Name text={model} /> },
  { id: 'calls', header: 'Calls', align: 'end', cell: ({ requests }) => formatCount(requests) },
  {
    id: 'failed',
    header: 'Failed',
    align: 'end',
    priority: 2,
    cell: ({ failed_requests: failed }) => formatCount(failed),
  },
  {
    id: 'prompt',
    header: 'Prompt tokens',
    align: 'end',
    priority: 2,
    cell: ({ prompt_tokens: tokens }) => formatCount(tokens),
  },
  {
    id: 'answer',
    header: 'Answer tokens',
    align: 'end',
    priority: 3,
    cell: ({ completion_tokens: tokens }) => formatCount(tokens),
  },
  {
    id: 'byok',
    header: 'With own provider keys',
    align: 'end',
    priority: 3,
    cell: ({ byok_usage: usd }) => (usd === 0 ? <Absent /> : <Money usd={usd} />),
  },
  { id: 'spend', header: 'Spend', align: 'end', cell: ({ usage: usd }) => <Money usd={usd} /> },
];

export function OwnUsageTable() {
  const { data, error, refetch } = useQuery(ownUsageQuery);
  return (
    <Section title="Usage by day and model" description="The last 30 days." isFlush>
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <DataTable
          caption="Usage by day and model"
          columns={COLUMNS}
          rows={data}
          rowKey={({ date, model }) => `${date} ${model}`}
          empty={<EmptyState title="No call in the last 30 days" />}
        />
      )}
    </Section>
  );
}
