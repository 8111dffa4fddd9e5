// The events of an alert, newest first, with the state of their delivery.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { loadEvents, NOTIFICATIONS } from '../../api/notifications';
import type { NotificationEvent } from '../../api/notifications';
import { Button } from '../../components/actions/button';
import { CodeBlock } from '../../components/data/code-block';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { useHeldPages } from '../../components/data/held-pages';
import { ListFoot, RefreshButton } from '../../components/data/list-head';
import { Badge } from '../../components/display/badge';
import { DescriptionList, Section } from '../../components/display/section';
import { Absent, Code, Money, Name, Time } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { FilterRow, FilterSelect } from '../../components/form/filter-row';
import { Dialog } from '../../components/overlay/dialog';
import { formatCount } from '../../format';
import { EVENT_FILTERS, readAlertSearch } from './alert-search';
import { crossingsOf, EVENT_STATES, leftOutText, thresholdsText } from './alert-words';
import type { Crossing } from './alert-words';
import styles from './alerts.module.css';

const route = getRouteApi('/app/management/alerts/$id');

const columnsOf = (show: (event: NotificationEvent) => void): readonly Column<NotificationEvent>[] => [
  { id: 'at', header: 'Time', priority: 2, isWhole: true, cell: (event) => <Time at={event.created_at} /> },
  { id: 'what', header: 'Limit', cell: (event) => <Subject event={event} /> },
  {
    id: 'threshold',
    header: 'Reached',
    align: 'end',
    priority: 2,
    cell: (event) => <Reached crossings={crossingsOf(event)} />,
  },
  {
    id: 'spend',
    header: 'Spent',
    align: 'end',
    priority: 3,
    cell: (event) => <Spend crossings={crossingsOf(event)} />,
  },
  { id: 'state', header: 'State', cell: (event) => <EventState event={event} /> },
  {
    id: 'show',
    header: 'Details',
    isHeaderHidden: true,
    align: 'end',
    cell: (event) => (
      <Button
        variant="ghost"
        aria-label={`Details of the event of ${event.created_at}`}
        onClick={() => show(event)}
      >
        Details
      </Button>
    ),
  },
];

interface AlertEventsProps {
  readonly id: string;
  /** False: newer ones are not looked for. */
  readonly isLive: boolean;
}

export function AlertEvents({ id, isLive }: AlertEventsProps) {
  const { events: state } = route.useSearch();
  const navigate = route.useNavigate();
  const [shown, setShown] = useState<NotificationEvent | null>(null);
  const pages = useHeldPages({
    queryKey: [...NOTIFICATIONS, id, 'events', state],
    load: (cursor, signal) => loadEvents(id, state, cursor, signal),
    rowKey: (event: NotificationEvent) => event.id,
    isLive,
  });
  return (
    <Section
      title="Events"
      description="They are kept for 30 days."
      isFlush
      actions={<RefreshButton pages={pages} />}
    >
      <FilterRow label="Filter events">
        <FilterSelect
          label="State"
          any="Any state"
          value={state}
          choices={EVENT_FILTERS.map((value) => ({ value, label: EVENT_STATES[value][0] }))}
          onChange={(value) => void navigate({ search: readAlertSearch({ events: value }), replace: true })}
        />
      </FilterRow>
      {pages.error && pages.rows === undefined ? (
        <ErrorState error={pages.error} onRetry={pages.refresh} />
      ) : (
        <DataTable
          caption="List of events"
          columns={columnsOf(setShown)}
          rows={pages.rows}
          rowKey={(event) => event.id}
          empty={
            state === undefined ? (
              <EmptyState title="No event yet">
                The first one is sent about 10 seconds after a call that reaches one of the shares.
              </EmptyState>
            ) : (
              <EmptyState title="No event in this state" />
            )
          }
          footer={<ListFoot pages={pages} noun="events" />}
        />
      )}
      <Dialog title="Event" isOpen={shown !== null} onClose={() => setShown(null)}>
        {shown !== null && <EventDetails event={shown} />}
      </Dialog>
    </Section>
  );
}

function Subject({ event }: { readonly event: NotificationEvent }) {
  const [crossing, ...others] = crossingsOf(event);
  if (crossing === undefined) return leftOutText(event) ?? <Absent />;
  const { kind, id, name } = crossing.subject;
  return (
    <span className={styles.subject}>
      {kind === 'key' ? (
        <Link to="/keys/$hash" params={{ hash: id }}>
          <Name text={name} />
        </Link>
      ) : kind === 'workspace' ? (
        <Link to="/workspaces/$id" params={{ id }}>
          <Name text={name} />
        </Link>
      ) : (
        name
      )}
      <span className={styles.interval}>
        {others.length > 0
          ? `and ${formatCount(others.length)} more ${others.length === 1 ? 'key' : 'keys'}`
          : kind === 'credits'
            ? 'total'
            : `${crossing.interval} ${kind === 'key' ? 'limit' : 'budget'}`}
      </span>
    </span>
  );
}

interface CrossingsProps {
  readonly crossings: readonly Crossing[];
}

function Reached({ crossings }: CrossingsProps) {
  if (crossings.length === 0) return <Absent />;
  if (crossings.every(({ isRefusal }) => isRefusal)) {
    return <span title="A call was refused, because it could have exceeded the limit">Refused a call</span>;
  }
  const thresholds = [...new Set(crossings.map(({ threshold }) => threshold))];
  return thresholdsText({ thresholds: thresholds.toSorted((one, two) => one - two) });
}

function Spend({ crossings: [crossing, ...others] }: CrossingsProps) {
  if (crossing === undefined || others.length > 0) return <Absent />;
  return (
    <>
      <Money usd={crossing.spend} /> of <Money usd={crossing.limit} />
    </>
  );
}

function EventState({ event: { state, last_status: status } }: { readonly event: NotificationEvent }) {
  const [label, tone] = EVENT_STATES[state];
  return (
    <span className={styles.state}>
      <Badge tone={tone}>{label}</Badge>
      {state !== 'delivered' && status !== null && <span className={styles.interval}>HTTP {status}</span>}
    </span>
  );
}

function EventDetails({ event }: { readonly event: NotificationEvent }) {
  return (
    <div className={styles.details}>
      <DescriptionList
        items={[
          ['Id', <Code key="id" text={event.id} what="event id" />],
          ['State', <EventState key="state" event={event} />],
          ['Attempts', formatCount(event.attempts)],
          ['Last failure', event.last_error ?? <Absent key="none" />],
          ['Created', <Time key="created" at={event.created_at} />],
          ['Concluded', <Time key="concluded" at={event.concluded_at} />],
        ]}
      />
      <CodeBlock code={JSON.stringify(event.payload, null, 2)} what="body of the request" />
    </div>
  );
}
