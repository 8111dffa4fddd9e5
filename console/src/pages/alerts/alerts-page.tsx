// Budget alerts of the account: events for a webhook when a limit is nearly spent.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { notificationsQuery } from '../../api/notifications';
import type { Notification } from '../../api/notifications';
import { workspacesQuery } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { buttonClass } from '../../components/actions/button';
import { DataTable } from '../../components/data/data-table';
import type { Column } from '../../components/data/data-table';
import { Badge } from '../../components/display/badge';
import { Icon } from '../../components/display/icon';
import { Page, Section } from '../../components/display/section';
import { Name } from '../../components/display/values';
import { EmptyState, ErrorState } from '../../components/feedback/states';
import { AlertDialog } from './alert-dialog';
import { coversText, thresholdsText } from './alert-words';
import { WorkspaceName } from '../../components/data/workspace-name';
import styles from './alerts.module.css';

const route = getRouteApi('/app/management/alerts');

const COLUMNS: readonly Column<Notification>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ id, name, config }) => (
      <span className={styles.nameCell}>
        <Link to="/alerts/$id" params={{ id }}>
          <Name text={name} />
        </Link>
        <bdi className={styles.receiver}>{config.url}</bdi>
      </span>
    ),
  },
  { id: 'at', header: 'At', cell: (rule) => thresholdsText(rule) },
  { id: 'covers', header: 'Watches', priority: 2, cell: (rule) => coversText(rule) },
  {
    id: 'where',
    header: 'Workspace',
    priority: 3,
    cell: ({ workspace_id: id }) => <WorkspaceName id={id} />,
  },
  {
    id: 'state',
    header: 'State',
    cell: ({ enabled }) => (enabled ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>),
  },
];

export function AlertsPage() {
  const { add, for: workspaceId } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(notificationsQuery);
  const workspaces = useQuery(workspacesQuery);
  const canAdd = useCan()('notifications.change');
  const create = canAdd && (
    <Link to="." search={{ add: 'any' }} className={buttonClass('primary')}>
      <Icon name="plus" /> Add alert
    </Link>
  );
  return (
    <Page
      title="Alerts"
      description="A webhook receives an event when a key, a budget or the credits of the account reach a share of their limit."
      actions={create}
    >
      <Section title="Alerts of the account" isFlush>
        {error && data === undefined ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <DataTable
            caption="Alerts"
            columns={COLUMNS}
            rows={data}
            rowKey={({ id }) => id}
            isRowMuted={({ enabled }) => !enabled}
            empty={
              <EmptyState title="No alert yet" action={create}>
                A limit that is reached refuses calls without a warning before. Add the webhook of a chat, a
                pager or a service of your own.
              </EmptyState>
            }
          />
        )}
      </Section>
      {canAdd && add !== undefined && workspaces.data !== undefined && (
        <AlertDialog
          cover={add === 'any' ? undefined : add}
          workspaceId={workspaceId}
          workspaces={workspaces.data}
          onClose={() => void navigate({ search: {}, replace: true })}
          // The form still waits for the end of its change, which would hold the page.
          onSaved={({ id }) =>
            void navigate({ to: '/alerts/$id', params: { id }, replace: true, ignoreBlocker: true })
          }
        />
      )}
    </Page>
  );
}
