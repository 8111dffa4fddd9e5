// The form of an alert, for a new one and for changes.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createNotification, NOTIFICATIONS, updateNotification } from '../../api/notifications';
import type { Cover, NewNotification, Notification } from '../../api/notifications';
import type { Workspace } from '../../api/workspaces';
import { useCan } from '../../app/rights';
import { Notice } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { changedSettings } from '../../components/form/changes';
import { Form, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { HeaderFields, headersOf, problemOfHeaders, readHeaders } from '../../components/form/header-fields';
import type { Header } from '../../components/form/header-fields';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { capitalise } from '../../format';
import { COVERS } from './alert-search';
import { COVER_NAMES } from './alert-words';
import styles from './alerts.module.css';

const FIELDS = ['name', 'config.url', 'thresholds', 'workspace_id'];

/** A text that is no number is sent as it is: the service rejects it and names the member. */
function readThresholds(text: string): number[] {
  const parts = text.split(/[\s,;%]+/).filter(Boolean);
  return parts.map((part) => (Number.isFinite(Number(part)) ? Number(part) : (part as unknown as number)));
}

interface AlertDialogProps {
  /** Absent: a new one. */
  readonly alert?: Notification;
  /** The limits that a new one watches; absent: all. */
  readonly cover?: Cover | undefined;
  /** The workspace of a new one; absent: all. */
  readonly workspaceId?: string | undefined;
  readonly workspaces: readonly Workspace[];
  readonly onClose: () => void;
  readonly onSaved: (alert: Notification) => void;
}

export function AlertDialog(props: AlertDialogProps) {
  const { alert, onClose, onSaved } = props;
  const can = useCan();
  const isForAll = can('notifications.change', null);
  const workspaces = props.workspaces.filter(({ id }) => can('notifications.change', id));
  const client = useQueryClient();
  const [where, setWhere] = useState(
    alert === undefined
      ? (props.workspaceId ?? (isForAll ? '' : (workspaces[0]?.id ?? '')))
      : (alert.workspace_id ?? ''),
  );
  const [chosen, setChosen] = useState<readonly Cover[]>(
    alert?.covers ?? (props.cover === undefined ? COVERS : [props.cover]),
  );
  const [begun] = useState(() => readHeaders(alert?.config.headers));
  const [headers, setHeaders] = useState<readonly Header[]>(begun);
  const [problem, setProblem] = useState<string>();
  // A workspace has no credits of its own.
  const offered = COVERS.filter((cover) => where === '' || cover !== 'credits');
  const covers = offered.filter((cover) => chosen.includes(cover));
  const headersProblem = problemOfHeaders(headers);

  const read = (values: FormValues, watched: readonly Cover[], rows: readonly Header[]): NewNotification => {
    const named = headersOf(rows);
    return {
      name: values.text('name'),
      covers: [...watched],
      thresholds: readThresholds(values.text('thresholds')),
      config: {
        url: values.text('config.url'),
        ...(Object.keys(named).length > 0 || begun.length > 0 ? { headers: named } : {}),
      },
    } as NewNotification;
  };
  const save = useMutation({
    mutationFn: ({ values, initial }: { values: FormValues; initial: FormValues }) => {
      const body = read(values, covers, headers);
      if (alert === undefined)
        return createNotification({ ...body, workspace_id: where === '' ? null : where });
      return updateNotification(alert.id, changedSettings(body, read(initial, alert.covers, begun)));
    },
    onSuccess: async (saved) => {
      showToast({ tone: 'good', text: `${saved.name} was saved.` });
      onSaved(saved);
      await client.invalidateQueries({ queryKey: NOTIFICATIONS });
    },
  });
  return (
    <Dialog title={alert === undefined ? 'Add alert' : 'Edit alert'} isOpen onClose={onClose}>
      <Form
        fields={FIELDS}
        error={save.error}
        onSubmit={(values, initial) => {
          const found = covers.length === 0 ? 'Choose at least one kind of limit.' : headersProblem;
          setProblem(found);
          if (found === undefined) save.mutate({ values, initial });
        }}
      >
        <TextField
          name="name"
          label="Name"
          defaultValue={alert?.name ?? ''}
          placeholder="Budget alerts"
          dir="auto"
        />
        {alert === undefined && (
          <SelectField
            name="workspace_id"
            label="Workspace"
            value={where}
            onChange={({ target }) => setWhere(target.value)}
            choices={[
              ...(isForAll ? [{ value: '', label: 'All workspaces of the account' }] : []),
              ...workspaces.map(({ id, name }) => ({ value: id, label: name })),
            ]}
          />
        )}
        <fieldset className={styles.covers}>
          <legend className={styles.legend}>Watches</legend>
          {offered.map((cover) => (
            <label key={cover} className={styles.cover}>
              <input
                type="checkbox"
                checked={chosen.includes(cover)}
                onChange={({ target }) =>
                  setChosen(target.checked ? [...chosen, cover] : chosen.filter((other) => other !== cover))
                }
              />
              {capitalise(COVER_NAMES[cover])}
            </label>
          ))}
        </fieldset>
        <TextField
          name="thresholds"
          label="At"
          defaultValue={alert?.thresholds.join(', ') ?? '50, 80, 100'}
          inputMode="numeric"
          hint="Percent of the limit, up to ten. Each is reported once in a day, week or month of the limit."
        />
        <TextField
          name="config.url"
          label="Receiver"
          type="text"
          inputMode="url"
          spellCheck={false}
          defaultValue={alert?.config.url ?? ''}
          placeholder="https://example.com/alerts"
          hint={
            alert === undefined
              ? 'Receives a signed POST of JSON for each event.'
              : 'Shown masked. It stays as it is stored unless you type another one.'
          }
        />
        <HeaderFields headers={headers} problem={undefined} onChange={setHeaders} />
        {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
        <SubmitButtons action="Save" isBusy={save.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
