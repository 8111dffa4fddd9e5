// One change: its actor, and the object before and after.
import { Link } from '@tanstack/react-router';
import type { AuditEntry } from '../../api/audit';
import { Difference } from '../../components/data/difference';
import { DescriptionList } from '../../components/display/section';
import { Absent, Code, Time } from '../../components/display/values';
import { Dialog } from '../../components/overlay/dialog';
import { ACTION_NAMES, objectName, TYPE_NAMES } from './audit-words';
import styles from './audit.module.css';

interface ChangeDialogProps {
  readonly entry: AuditEntry | null;
  readonly onClose: () => void;
}

export function ChangeDialog({ entry, onClose }: ChangeDialogProps) {
  return (
    <Dialog
      title={
        entry === null ? '' : `${TYPE_NAMES[entry.object_type]} ${ACTION_NAMES[entry.action].toLowerCase()}`
      }
      description={entry === null ? undefined : <bdi className={styles.fullName}>{objectName(entry)}</bdi>}
      isOpen={entry !== null}
      onClose={onClose}
    >
      {entry !== null && <Change entry={entry} />}
    </Dialog>
  );
}

function Change({ entry }: { readonly entry: AuditEntry }) {
  const { actor, object_id: id } = entry;
  return (
    <>
      {/* As a part of the column of the dialog it would be cut to the height of the window. */}
      <div>
        <DescriptionList
          items={[
            ['When', <Time key="when" at={entry.created_at} />],
            actor.key_hash === null
              ? ['Person', <bdi key="who">{actor.key_label}</bdi>]
              : [
                  'Key',
                  <Link key="who" to="/keys/$hash" params={{ hash: actor.key_hash }}>
                    <code>{actor.key_label}</code>
                  </Link>,
                ],
            ['From where', <Code key="ip" text={actor.ip} />],
            [
              'With',
              actor.user_agent === null ? <Absent key="with" /> : <bdi key="with">{actor.user_agent}</bdi>,
            ],
            ['Request id', <Code key="request" text={actor.request_id} what="request id" />],
            ['Object id', <Code key="object" text={id} what="object id" />],
          ]}
        />
      </div>
      <Difference change={entry} />
    </>
  );
}
