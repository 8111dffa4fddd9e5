// One alert: what it watches, what it has sent, and how its receiver checks that.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  deleteNotification,
  lastDeadLetterQuery,
  notificationQuery,
  NOTIFICATIONS,
  notificationSecretQuery,
  notificationsQuery,
  replayNotification,
  testNotification,
  updateNotification,
} from '../../api/notifications';
import type { Notification, NotificationEvent } from '../../api/notifications';
import { messageOf } from '../../api/problems';
import { workspacesQuery } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { Button } from '../../components/actions/button';
import { SigningSecret } from '../../components/data/signing-secret';
import { Badge } from '../../components/display/badge';
import { DescriptionList, Page, Section } from '../../components/display/section';
import { Time } from '../../components/display/values';
import { Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { TestResult } from '../../components/feedback/test-result';
import { showToast } from '../../components/feedback/toasts';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { formatCount } from '../../format';
import { AlertDialog } from './alert-dialog';
import { AlertEvents } from './alert-events';
import { coversText, thresholdsText } from './alert-words';
import { WorkspaceName } from '../../components/data/workspace-name';
import styles from './alerts.module.css';

const route = getRouteApi('/app/management/alerts/$id');

export function AlertPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useQuery(notificationQuery(id));
  if (data !== undefined) return <AlertView key={id} alert={data} />;
  return (
    <Page title="Alert">
      {error ? (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="alert"
          back={<Link to="/alerts">All alerts</Link>}
        />
      ) : (
        <Placeholder lines={12} />
      )}
    </Page>
  );
}

function AlertView({ alert }: { readonly alert: Notification }) {
  const { id, name, enabled, config } = alert;
  const canChange = useCan()('notifications.change', alert.workspace_id);
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDialog(null);
  // Nothing is asked of an alert that is being deleted.
  const isLive = dialog !== 'delete';
  const workspaces = useQuery(workspacesQuery);
  const deadLetter = useQuery({ ...lastDeadLetterQuery(id), enabled: isLive });
  const refresh = () => client.invalidateQueries({ queryKey: NOTIFICATIONS });
  const onError = (error: Error) => showToast({ tone: 'bad', text: messageOf(error) });
  const test = useMutation({ mutationFn: () => testNotification(id) });
  const toggle = useMutation({
    mutationFn: () => updateNotification(id, { enabled: !enabled }),
    onSuccess: refresh,
    onError,
  });
  const replay = useMutation({
    mutationFn: () => replayNotification(id),
    onSuccess: async (count) => {
      showToast({ tone: 'good', text: `Events that are sent again: ${formatCount(count)}.` });
      await client.resetQueries({ queryKey: [...NOTIFICATIONS, id, 'events'] });
      await refresh();
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: () => deleteNotification(id),
    onMutate: () => client.cancelQueries({ queryKey: [...NOTIFICATIONS, id] }),
    onSuccess: async () => {
      showToast({ tone: 'good', text: `${name} was deleted.` });
      await navigate({ to: '/alerts', replace: true });
      client.removeQueries({ queryKey: [...NOTIFICATIONS, id] });
      await client.invalidateQueries({ queryKey: notificationsQuery.queryKey });
    },
    onError: refresh,
  });
  return (
    <Page
      title={name}
      description={enabled ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>}
      actions={
        canChange && (
          <>
            <Button isBusy={test.isPending} onClick={() => test.mutate()}>
              {test.isPending ? 'Testing…' : 'Test'}
            </Button>
            <Button variant="primary" onClick={() => setDialog('edit')}>
              Edit
            </Button>
            <ActionMenu
              label={`Further actions for ${name}`}
              actions={[
                { label: enabled ? 'Disable' : 'Enable', onSelect: () => toggle.mutate() },
                { label: 'Delete', onSelect: () => setDialog('delete'), isDangerous: true },
              ]}
            />
          </>
        )
      }
    >
      <div role="status" className={styles.testResult}>
        {test.data && <TestResult name="The receiver" result={test.data} />}
        {test.error !== null && <Notice tone="bad">{messageOf(test.error)}</Notice>}
      </div>
      {deadLetter.data && (
        <DeadLetterNotice
          event={deadLetter.data}
          isEnabled={enabled}
          canReplay={canChange}
          isBusy={replay.isPending}
          onReplay={() => replay.mutate()}
        />
      )}
      <Section title="Rule">
        <DescriptionList
          items={[
            ['Watches', coversText(alert)],
            ['Workspace', <WorkspaceName key="of" id={alert.workspace_id} />],
            ['At', `${thresholdsText(alert)} of the limit`],
            ['Receiver', <bdi key="url">{config.url}</bdi>],
            ...Object.entries(config.headers ?? {}).map(
              ([header, value]) => [header, <code key={header}>{value}</code>] as const,
            ),
            ['Created', <Time key="created" at={alert.created_at} />],
            ['Last changed', <Time key="updated" at={alert.updated_at} />],
          ]}
        />
      </Section>
      <AlertEvents id={id} isLive={isLive} />
      {canChange && <SigningSecret query={notificationSecretQuery(id)} />}
      {dialog === 'edit' && (
        <AlertDialog alert={alert} workspaces={workspaces.data ?? []} onClose={close} onSaved={close} />
      )}
      <ConfirmDialog
        title="Delete alert"
        name={name}
        action="Delete"
        isOpen={dialog === 'delete'}
        mutation={remove}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        Its receiver hears of no limit any more, and the list of its events is deleted.
      </ConfirmDialog>
    </Page>
  );
}

interface DeadLetterNoticeProps {
  readonly event: NotificationEvent;
  readonly isEnabled: boolean;
  readonly canReplay: boolean;
  readonly isBusy: boolean;
  readonly onReplay: () => void;
}

function DeadLetterNotice({ event, isEnabled, canReplay, isBusy, onReplay }: DeadLetterNoticeProps) {
  return (
    <Notice tone="bad">
      <p className={styles.noticeHead}>
        <span>
          The receiver did not take an event of <Time at={event.created_at} />. {event.last_error}
        </span>
        {!canReplay ? null : isEnabled ? (
          <Button isBusy={isBusy} onClick={onReplay}>
            Send again
          </Button>
        ) : (
          'Enable the alert to send it again.'
        )}
      </p>
    </Notice>
  );
}
