// The destinations of a workspace, and how their deliveries go.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { findKind } from '../../api/destination-kinds';
import { deliveriesOfWorkspaceQuery, destinationsQuery } from '../../api/destinations';
import type { DestinationDeliveries, Destination } from '../../api/destinations';
import { messageOf } from '../../api/problems';
import { workspacesQuery } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { useWorkspaceId } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { joinQueries } from '../../components/data/joined-queries';
import { Icon } from '../../components/display/icon';
import { Page, Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState, Notice } from '../../components/feedback/states';
import { formatCount } from '../../format';
import { DestinationState, formatPending, Lag, LastError } from './destination-state';
import styles from './destinations.module.css';

interface Row {
  readonly destination: Destination;
  /** Undefined while it loads. */
  readonly deliveries: DestinationDeliveries | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ destination: { id, name, type } }) => (
      <span className={styles.nameCell}>
        <Link to="/destinations/$id" params={{ id }}>
          <Name text={name ?? 'Without a name'} />
        </Link>
        <span className={styles.kind}>{findKind(type)?.name ?? type}</span>
      </span>
    ),
  },
  { id: 'state', header: 'State', cell: ({ deliveries }) => <DestinationState deliveries={deliveries} /> },
  {
    id: 'waiting',
    header: 'Waiting',
    align: 'end',
    priority: 2,
    cell: ({ deliveries }) => (deliveries ? formatPending(deliveries) : ''),
  },
  {
    id: 'lag',
    header: 'Lag',
    align: 'end',
    priority: 3,
    cell: ({ deliveries }) => <Lag deliveries={deliveries} />,
  },
  {
    id: 'delivered',
    header: 'Delivered',
    align: 'end',
    priority: 2,
    cell: ({ deliveries }) => (deliveries ? formatCount(deliveries.delivered) : ''),
  },
  {
    id: 'dead',
    header: 'Dead letters',
    align: 'end',
    priority: 2,
    cell: ({ deliveries }) => (deliveries ? formatCount(deliveries.dead_letters) : ''),
  },
  {
    id: 'error',
    header: 'Last error',
    priority: 3,
    cell: ({ deliveries }) => <LastError deliveries={deliveries} />,
  },
];

export function DestinationsPage() {
  const workspaceId = useWorkspaceId();
  const can = useCan();
  const destinations = useQuery(destinationsQuery(workspaceId));
  const states = useQuery(deliveriesOfWorkspaceQuery(workspaceId));
  const workspaces = useQuery(workspacesQuery);
  const isOff =
    workspaces.data?.find(({ id }) => id === workspaceId)?.is_observability_broadcast_enabled === false;
  const create = can('destinations.change', workspaceId) && (
    <Link to="/destinations/new" className={buttonClass('primary')}>
      <Icon name="plus" /> Add destination
    </Link>
  );
  const { error, retry } = joinQueries(destinations, states);
  return (
    <Page
      title="Destinations"
      description="Platforms that receive a trace of every call. A failing one holds back only itself."
      actions={create}
    >
      {isOff && (
        <Notice tone="warning">
          Deliveries of this workspace are switched off.{' '}
          {can('workspaces.change', workspaceId) && (
            <>
              <Link to="/workspaces">Switch them on</Link> in the settings of the workspace.
            </>
          )}
        </Notice>
      )}
      <Section title="Destinations of the workspace" isFlush>
        {error && destinations.data === undefined ? (
          <ErrorState error={error} onRetry={retry} />
        ) : (
          <>
            {error && (
              <Notice tone="bad">
                The states of the deliveries could not be loaded: {messageOf(error)}{' '}
                <Button icon="refresh" onClick={retry}>
                  Try again
                </Button>
              </Notice>
            )}
            <DataTable
              caption="Destinations"
              columns={COLUMNS}
              rows={destinations.data?.map((destination) => ({
                destination,
                deliveries: states.data?.get(destination.id),
              }))}
              rowKey={({ destination }) => destination.id}
              isRowMuted={({ destination }) => !destination.enabled}
              empty={
                <EmptyState title="No destination yet" action={create}>
                  Send the traces of your calls to a platform that you use, to a bucket, or to a webhook of
                  your own. A test shows whether it works before you save it.
                </EmptyState>
              }
            />
          </>
        )}
      </Section>
    </Page>
  );
}
