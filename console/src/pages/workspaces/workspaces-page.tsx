// The workspaces of the account.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { analyticsQuery, numberOf, textOf } from '../../api/analytics';
import { budgetsQuery } from '../../api/budgets';
import type { Budget } from '../../api/budgets';
import { isoTime } from '../../api/iso-time';
import { workspacesQuery } from '../../api/workspaces';
import type { Workspace } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { Button } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Page, Section } from '../../components/display/section';
import { SpendBar } from '../../components/display/spend-bar';
import { Absent, Money, Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { formatCount, formatCountOf } from '../../format';
import { timeRangeOf, windowStarts } from '../overview/ranges';
import { CreateWorkspaceDialog } from './workspace-dialogs';
import styles from './workspaces.module.css';

// The budgets of each are a question of its own.
const MOST_BUDGETS = 30;

/** Of each workspace, by its id. */
type Figures = ReadonlyMap<string, number> | undefined;

const columnsOf = (spend: Figures, refused: Figures, hasBudgets: boolean): readonly Column<Workspace>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name, slug }) => (
      <span className={styles.nameCell}>
        <Link to="/workspaces/$id" params={{ id }}>
          <Name text={name} />
        </Link>
        <code className={styles.slug}>{slug}</code>
      </span>
    ),
  },
  {
    id: 'spend',
    header: 'Spend this month',
    align: 'end',
    cell: ({ id }) =>
      spend === undefined ? (
        ''
      ) : (
        <Link to="/usage" search={{ workspace: id }}>
          <Money usd={spend.get(id) ?? 0} />
        </Link>
      ),
  },
  {
    id: 'refused',
    header: 'Refused in 1 h',
    align: 'end',
    cell: ({ id }) =>
      (refused?.get(id) ?? 0) === 0 ? (
        <Absent />
      ) : (
        <Link to="/refusals" search={{ workspace: id, range: 'hour' }}>
          {formatCount(refused?.get(id) ?? 0)}
        </Link>
      ),
  },
  ...(hasBudgets
    ? [
        {
          id: 'budget',
          header: 'Budget that stops first',
          priority: 2,
          cell: (workspace) => <NextBudget workspace={workspace} />,
        } satisfies Column<Workspace>,
      ]
    : []),
  {
    id: 'deliveries',
    header: 'Deliveries',
    priority: 2,
    cell: ({ is_observability_broadcast_enabled: isOn }) =>
      isOn ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>,
  },
  {
    id: 'description',
    header: 'Description',
    priority: 3,
    cell: ({ description }) => (description === null ? <Absent /> : <Name text={description} />),
  },
];

/** The budget with the least left. */
function NextBudget({ workspace: { id, name } }: { readonly workspace: Workspace }) {
  const { data } = useQuery({ ...budgetsQuery(id), refetchInterval: false });
  if (data === undefined) return '';
  const [next] = [...data.data].sort((left, right) => leftOf(left) - leftOf(right));
  if (next === undefined) return <span className={styles.slug}>No budget</span>;
  return (
    <span className={styles.nextBudget}>
      <SpendBar label={`Budget of ${name}`} spend={next.spend_usd} limit={next.limit_usd} />
      <span className={styles.slug}>
        {leftOf(next) <= 0 ? 'refuses calls now' : (next.reset_interval ?? 'lifetime')}
      </span>
    </span>
  );
}

const leftOf = ({ limit_usd: limit, spend_usd: spend }: Budget): number => limit - spend;

const spendQuery = analyticsQuery(['month-by-workspace'], (now) => ({
  metrics: ['total_usage'],
  dimensions: ['workspace'],
  time_range: { start: isoTime(windowStarts(now).monthly), end: isoTime(now + 1000) },
}));

const refusedQuery = analyticsQuery(['refused-by-workspace'], (now) => ({
  metrics: ['refused_count'],
  dimensions: ['workspace'],
  time_range: timeRangeOf('hour', now),
}));

function useFigures(query: typeof spendQuery, metric: string): Figures {
  return useQuery({
    ...query,
    refetchInterval: 15_000,
    select: (rows) => new Map(rows.map((row) => [textOf(row, 'workspace') ?? '', numberOf(row, metric)])),
  }).data;
}

export function WorkspacesPage() {
  const { data, error, refetch } = useQuery(workspacesQuery);
  const spend = useFigures(spendQuery, 'total_usage');
  const refused = useFigures(refusedQuery, 'refused_count');
  const [isCreating, setCreating] = useState(false);
  const create = useCan()('workspaces.create', null) && (
    <Button variant="primary" icon="plus" onClick={() => setCreating(true)}>
      Create workspace
    </Button>
  );
  return (
    <Page
      title="Workspaces"
      description="A workspace groups keys, destinations and provider keys. Its budgets bound what all of its keys spend together."
      actions={create}
    >
      <Section title="Workspaces of the account" isFlush>
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <DataTable
            caption="Workspaces"
            columns={columnsOf(spend, refused, (data?.length ?? 0) <= MOST_BUDGETS)}
            rows={data}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title="No workspace" action={create}>
                Create the first one.
              </EmptyState>
            }
            footer={data && formatCountOf(data.length, 'workspace')}
          />
        )}
      </Section>
      <CreateWorkspaceDialog isOpen={isCreating} onClose={() => setCreating(false)} />
    </Page>
  );
}
