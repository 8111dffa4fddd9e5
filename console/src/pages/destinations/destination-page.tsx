// One destination: how its deliveries go, what failed and why, and its settings.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { findKind } from '../../api/destination-kinds';
import {
  deleteDestination,
  deliveriesQuery,
  DESTINATIONS,
  destinationQuery,
  signingSecretQuery,
  testDestination,
  updateDestination,
} from '../../api/destinations';
import type { DestinationDeliveries, Destination } from '../../api/destinations';
import { messageOf } from '../../api/problems';
import { platformWords } from '../../components/feedback/platform-words';
import { useCan } from '../../app/rights';
import { useObjectWorkspace } from '../../app/workspace';
import { Button, buttonClass } from '../../components/actions/button';
import { Page } from '../../components/display/section';
import { StatTile, StatTiles } from '../../components/display/stat-tile';
import { Time } from '../../components/display/values';
import { ErrorState, Notice, ObjectError, Placeholder } from '../../components/feedback/states';
import { TestResult } from '../../components/feedback/test-result';
import { showToast } from '../../components/feedback/toasts';
import { SigningSecret } from '../../components/data/signing-secret';
import { ActionMenu } from '../../components/overlay/action-menu';
import { ConfirmDialog } from '../../components/overlay/dialog';
import { formatCount } from '../../format';
import { DeadLetters } from './dead-letters';
import { DestinationSettings } from './destination-settings';
import { DestinationState, formatPending, Lag } from './destination-state';
import { ReplayDialog } from './replay-dialog';
import styles from './destinations.module.css';

const route = getRouteApi('/app/management/destinations/$id');

export function DestinationPage() {
  const { id } = route.useParams();
  const { data, error, refetch } = useQuery(destinationQuery(id));
  if (data !== undefined) return <DestinationView key={id} destination={data} />;
  return (
    <Page title="Destination">
      {error ? (
        <ObjectError
          error={error}
          onRetry={() => void refetch()}
          what="destination"
          back={<Link to="/destinations">All destinations</Link>}
        />
      ) : (
        <Placeholder lines={12} />
      )}
    </Page>
  );
}

function DestinationView({ destination }: { readonly destination: Destination }) {
  const { id, type, enabled } = destination;
  useObjectWorkspace(destination.workspace_id);
  const canChange = useCan()('destinations.change', destination.workspace_id);
  const name = destination.name ?? 'Destination';
  const kind = findKind(type);
  const client = useQueryClient();
  const navigate = route.useNavigate();
  const [dialog, setDialog] = useState<'replay' | 'delete' | null>(null);
  const close = () => setDialog(null);
  // The question stays until the page is left: nothing is asked of a destination that is being deleted.
  const isLive = dialog !== 'delete';
  const deliveries = useQuery({ ...deliveriesQuery(id), enabled: isLive });
  const refresh = () => client.invalidateQueries({ queryKey: DESTINATIONS });
  const test = useMutation({ mutationFn: () => testDestination(id), onSettled: refresh });
  const toggle = useMutation({
    mutationFn: () => updateDestination(id, { enabled: !enabled }),
    onSuccess: refresh,
    onError: (error) => showToast({ tone: 'bad', text: messageOf(error) }),
  });
  const remove = useMutation({
    mutationFn: () => deleteDestination(id),
    onMutate: () => client.cancelQueries({ queryKey: [...DESTINATIONS, id] }),
    onSuccess: async () => {
      showToast({ tone: 'good', text: `${name} was deleted.` });
      await navigate({ to: '/destinations', replace: true });
      client.removeQueries({ queryKey: [...DESTINATIONS, id] });
      await client.invalidateQueries({ queryKey: DESTINATIONS });
    },
    onError: refresh,
  });
  return (
    <Page
      title={name}
      description={
        <span className={styles.headLine}>
          {kind?.name ?? type} <DestinationState deliveries={deliveries.data} />
        </span>
      }
      actions={
        canChange && (
          <>
            <Button isBusy={test.isPending} onClick={() => test.mutate()}>
              {test.isPending ? 'Testing…' : 'Test'}
            </Button>
            <Button onClick={() => setDialog('replay')}>Replay</Button>
            <Link to="/destinations/$id/edit" params={{ id }} className={buttonClass('primary')}>
              Edit
            </Link>
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
        {test.data && <TestResult name={kind?.name ?? type} result={test.data} />}
        {test.error !== null && <Notice tone="bad">{messageOf(test.error)}</Notice>}
      </div>
      {deliveries.error && deliveries.data === undefined ? (
        <ErrorState error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      ) : (
        <DeliveryFigures
          deliveries={deliveries.data}
          isTrying={test.isPending}
          onTry={canChange ? () => test.mutate() : null}
        />
      )}
      <DeadLetters id={id} canReplay={canChange} isLive={isLive} status={deliveries.data?.status} />
      <DestinationSettings destination={destination} kind={kind} />
      {canChange && kind?.type === 'webhook' && <SigningSecret query={signingSecretQuery(id)} />}
      <ReplayDialog
        id={id}
        name={name}
        deadLetters={deliveries.data?.dead_letters ?? 0}
        isOpen={dialog === 'replay'}
        onClose={close}
      />
      <ConfirmDialog
        title="Delete destination"
        name={name}
        action="Delete"
        isOpen={dialog === 'delete'}
        mutation={remove}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        It receives nothing more, and generations that still wait for it are discarded.
      </ConfirmDialog>
    </Page>
  );
}

interface DeliveryFiguresProps {
  readonly deliveries: DestinationDeliveries | undefined;
  readonly isTrying: boolean;
  /** A test that the platform accepts ends the wait for the next attempt. Null: the role does not allow it. */
  readonly onTry: (() => void) | null;
}

function DeliveryFigures({ deliveries, isTrying, onTry }: DeliveryFiguresProps) {
  const error = deliveries?.last_error ?? null;
  // Those that the platform rejected are the dead letters.
  const dropped = Object.entries((deliveries?.dropped ?? {}) as Readonly<Record<string, number>>).filter(
    ([reason]) => reason !== 'refused' && reason !== 'too_large',
  );
  return (
    <>
      {deliveries && error !== null && deliveries.status !== 'active' && (
        <Notice tone={deliveries.status === 'paused' ? 'bad' : 'warning'}>
          <p className={styles.errorHead}>
            Failed <Time at={error.at} isRelative isPast />
            {deliveries.failures > 1 && `, ${formatCount(deliveries.failures)} times in a row`}
            {deliveries.next_attempt_at !== null && (
              <>
                , next attempt <Time at={deliveries.next_attempt_at} isRelative />
              </>
            )}
          </p>
          <bdi className={styles.platformText}>{platformWords(error.message)}</bdi>
          {onTry !== null && (
            <p className={styles.tryLine}>
              <Button isBusy={isTrying} onClick={onTry}>
                Try now
              </Button>{' '}
              Sends a test. If the platform takes it, what waits follows at once.
            </p>
          )}
        </Notice>
      )}
      <StatTiles>
        <StatTile
          label="Delivered"
          value={deliveries && formatCount(deliveries.delivered)}
          detail={
            deliveries && (
              <>
                Last success <Time at={deliveries.last_success_at} absent="never" isRelative isPast />
              </>
            )
          }
        />
        <StatTile
          label="Waiting"
          value={deliveries && formatPending(deliveries)}
          detail={
            deliveries && (
              <>
                Lag <Lag deliveries={deliveries} />
              </>
            )
          }
        />
        <StatTile
          label="Dead letters"
          value={deliveries && formatCount(deliveries.dead_letters)}
          detail="Rejected by the platform, kept for 7 days"
        />
        <StatTile
          label="Dropped"
          value={deliveries && formatCount(dropped.reduce((sum, [, count]) => sum + count, 0))}
          detail={
            dropped.length === 0
              ? 'Waited too long, or lost their content'
              : dropped
                  .map(([reason, count]) => `${formatCount(count)} ${REASONS[reason] ?? reason}`)
                  .join(', ')
          }
        />
      </StatTiles>
      {deliveries && deliveries.contents_skipped > 0 && (
        <Notice tone="warning">
          {formatCount(deliveries.contents_skipped)} calls since yesterday are delivered without their input,
          because the workspace exceeded its quota of stored contents.
        </Notice>
      )}
    </>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  expired: 'expired',
  rejected: 'rejected',
  content_gone: 'without their content',
};
