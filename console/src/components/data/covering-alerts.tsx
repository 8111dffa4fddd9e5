// The budget alerts that watch a limit, beside it.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { notificationsQuery } from '../../api/notifications';
import type { Cover, Notification } from '../../api/notifications';
import { useCan } from '../../app/rights';
import { Absent, Name } from '../display/values';
import styles from './covering-alerts.module.css';

interface CoveringAlertsProps {
  readonly cover: Cover;
  /** Of the limit; null: the account's. */
  readonly workspaceId: string | null;
}

export function CoveringAlerts({ cover, workspaceId }: CoveringAlertsProps) {
  const can = useCan();
  const { data } = useQuery({ ...notificationsQuery, enabled: can('notifications.read') });
  // The alerts are a remark here: their own page reports that they cannot be loaded.
  if (data === undefined) return <Absent />;
  const watching = data.filter((rule) => isWatching(rule, cover, workspaceId));
  if (watching.length === 0) {
    return (
      <span>
        None.{' '}
        {can('notifications.change', workspaceId) && (
          <Link to="/alerts" search={{ add: cover, for: workspaceId ?? undefined }}>
            Add an alert
          </Link>
        )}
      </span>
    );
  }
  return (
    <ul className={styles.alerts}>
      {watching.map((rule) => (
        <li key={rule.id} className={styles.alert}>
          <Link to="/alerts/$id" params={{ id: rule.id }}>
            <Name text={rule.name} />
          </Link>
          <span className={styles.thresholds}>at {rule.thresholds.join(', ')} %</span>
        </li>
      ))}
    </ul>
  );
}

function isWatching(rule: Notification, cover: Cover, workspaceId: string | null): boolean {
  const { enabled: isOn, covers, workspace_id: where } = rule;
  return isOn && covers.includes(cover) && (where === null || where === workspaceId);
}
