// How many calls were refused in a range, by reason and by key. Each key leads to its page, which has the remedy.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { analyticsQuery, numberOf, textOf } from '../../api/analytics';
import type { AnalyticsQuery, AnalyticsRow } from '../../api/analytics';
import type { RefusalReason } from '../../api/refusals';
import { joinQueries } from '../../components/data/joined-queries';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { KeyName } from '../../components/data/key-name';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount } from '../../format';
import type { Range } from '../overview/overview-search';
import { timeRangeOf } from '../overview/ranges';
import { REASONS } from './refusal-words';
import styles from './refusals.module.css';

const ROWS = 50;

const reasonOf = (row: AnalyticsRow): RefusalReason => textOf(row, 'refusal_reason') as RefusalReason;

const COUNT: Column<AnalyticsRow> = {
  id: 'count',
  header: 'Refused',
  align: 'end',
  cell: (row) => formatCount(numberOf(row, 'refused_count')),
};

const REASON_COLUMNS: readonly Column<AnalyticsRow>[] = [
  {
    id: 'reason',
    header: 'Reason',
    cell: (row) => (
      <span className={styles.reason}>
        {REASONS[reasonOf(row)].name}
        <span className={styles.muted}>{REASONS[reasonOf(row)].advice}</span>
      </span>
    ),
  },
  COUNT,
];

const KEY_COLUMNS: readonly Column<AnalyticsRow>[] = [
  { id: 'key', header: 'Key', cell: (row) => <KeyCell hash={textOf(row, 'api_key_id')} /> },
  { id: 'reason', header: 'Reason', cell: (row) => REASONS[reasonOf(row)].name },
  COUNT,
];

function KeyCell({ hash }: { readonly hash: string | null }) {
  // Deleted ones, and those beyond the keys that are counted by name.
  if (hash === null) return 'Other keys';
  return (
    <Link to="/keys/$hash" params={{ hash }}>
      <KeyName hash={hash} />
    </Link>
  );
}

const countsQuery = (
  workspaceId: string,
  range: Range,
  dimensions: NonNullable<AnalyticsQuery['dimensions']>,
) => ({
  ...analyticsQuery(['refused', workspaceId, range, ...dimensions], (now) => ({
    metrics: ['refused_count'],
    dimensions,
    filters: [{ field: 'workspace', operator: 'eq', value: workspaceId }],
    time_range: timeRangeOf(range, now),
    order_by: { field: 'refused_count', direction: 'desc' },
    limit: ROWS,
  })),
  refetchInterval: 15_000,
});

interface RefusedKeysProps {
  readonly workspaceId: string;
  readonly range: Range;
}

export function RefusedKeys({ workspaceId, range }: RefusedKeysProps) {
  const reasons = useQuery(countsQuery(workspaceId, range, ['refusal_reason']));
  const keys = useQuery(countsQuery(workspaceId, range, ['api_key_id', 'refusal_reason']));
  const { error, retry } = joinQueries(reasons, keys);
  if (error !== null) return <ErrorState error={error} onRetry={retry} />;
  const empty = <EmptyState title="No call was refused in this range">Choose a longer range.</EmptyState>;
  return (
    <>
      <Section title="By reason" isFlush>
        <DataTable
          caption="By reason"
          columns={REASON_COLUMNS}
          rows={reasons.data}
          rowKey={(row) => reasonOf(row)}
          empty={empty}
        />
      </Section>
      {keys.data?.length !== 0 && (
        <Section title="By key" description={`Most first, at most ${ROWS}.`} isFlush>
          <DataTable
            caption="By key"
            columns={KEY_COLUMNS}
            rows={keys.data}
            rowKey={(row) => `${textOf(row, 'api_key_id')} ${reasonOf(row)}`}
            empty={empty}
          />
        </Section>
      )}
    </>
  );
}
