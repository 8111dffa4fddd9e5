// The actions on a key: edit, rotate, disable, enable, delete.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteKey, editedKeyQuery, keyQuery, KEYS, rotateKey, updateKey } from '../../api/keys';
import type { ApiKey, KeyChange } from '../../api/keys';
import { exampleModel, modelsQuery } from '../../api/models';
import { useSession } from '../../app/workspace';
import { ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField } from '../../components/form/form';
import { changedMembers } from '../../components/form/changes';
import { ConfirmDialog, Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { KeyForm, readKeyChange } from './key-form';
import { KeySecretView } from './key-secret';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The data of before stay until fresh ones arrive. */
export function useRefreshKeys(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: KEYS });
}

interface KeyDialogProps extends DialogProps {
  readonly apiKey: ApiKey;
}

export function useEditKey({ hash }: ApiKey, onSaved: () => void) {
  const refresh = useRefreshKeys();
  return useMutation({
    mutationFn: (body: KeyChange) => updateKey(hash, body),
    onSuccess: (changed) => {
      onSaved();
      showToast({ tone: 'good', text: `Saved ${changed.name}` });
      return refresh();
    },
  });
}

export function EditKeyDialog({ apiKey, isOpen, onClose }: KeyDialogProps) {
  const { data: stored, error, refetch } = useQuery(editedKeyQuery(apiKey.hash));
  const edit = useEditKey(apiKey, onClose);
  return (
    <Dialog title="Edit key" isOpen={isOpen} onClose={onClose}>
      {stored !== undefined ? (
        <KeyForm
          apiKey={stored}
          error={edit.error}
          onSubmit={(values, initial) =>
            edit.mutate(changedMembers(readKeyChange(values), readKeyChange(initial)))
          }
        >
          <SubmitButtons action="Save" isBusy={edit.isPending} onCancel={onClose} />
        </KeyForm>
      ) : error === null ? (
        <Placeholder lines={6} />
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </Dialog>
  );
}

const HOUR = 3600;
const GRACE_PERIODS = [
  { value: '0', label: 'None: the old key stops at once' },
  { value: String(HOUR), label: '1 hour' },
  { value: String(24 * HOUR), label: '1 day' },
  { value: String(7 * 24 * HOUR), label: '7 days' },
  { value: String(30 * 24 * HOUR), label: '30 days' },
];

export function RotateKeyDialog({ apiKey, isOpen, onClose }: KeyDialogProps) {
  const refresh = useRefreshKeys();
  const isOwn = useSignedInWith(apiKey);
  const { data: models } = useQuery(modelsQuery);
  const [grace, setGrace] = useState(String(24 * HOUR));
  const rotate = useMutation({ mutationFn: () => rotateKey(apiKey.hash, Number(grace)) });
  const close = () => {
    onClose();
    if (rotate.data) void refresh();
  };
  return (
    <Dialog
      title={rotate.data ? 'Key rotated' : 'Rotate key'}
      description={<bdi>{apiKey.name}</bdi>}
      isOpen={isOpen}
      isDismissible={!rotate.data}
      onClose={close}
    >
      {rotate.data ? (
        <KeySecretView
          secret={rotate.data.key}
          model={exampleModel(models)}
          isManagement={apiKey.is_management_key}
          onDone={close}
        />
      ) : (
        <Form fields={['grace_period_seconds']} error={rotate.error} onSubmit={() => rotate.mutate()}>
          <SelectField
            name="grace_period_seconds"
            label="Grace period of the old key"
            choices={GRACE_PERIODS}
            value={grace}
            onChange={({ target }) => setGrace(target.value)}
            hint="Both keys work until it ends. Name, limits and usage stay."
          />
          {isOwn && (
            <Notice tone="warning">
              You are signed in with it: this signs you out{grace !== '0' && ' when the grace period ends'}.
            </Notice>
          )}
          <SubmitButtons action="Rotate" isBusy={rotate.isPending} onCancel={close} />
        </Form>
      )}
    </Dialog>
  );
}

export function DisableKeyDialog({ apiKey, isOpen, onClose }: KeyDialogProps) {
  const refresh = useRefreshKeys();
  const isOwn = useSignedInWith(apiKey);
  const disable = useMutation({
    mutationFn: () => updateKey(apiKey.hash, { disabled: true }),
    onSuccess: () => {
      onClose();
      showToast({ tone: 'good', text: `Disabled ${apiKey.name}` });
      return refresh();
    },
  });
  return (
    <ConfirmDialog
      title="Disable key"
      name={apiKey.name}
      action="Disable"
      isOpen={isOpen}
      mutation={disable}
      onConfirm={() => disable.mutate()}
      onClose={onClose}
    >
      Calls with this key are refused until it is enabled again.
      {isOwn && ' You are signed in with it: this signs you out.'}
    </ConfirmDialog>
  );
}

interface DeleteKeyDialogProps extends KeyDialogProps {
  readonly onDeleted?: () => Promise<void>;
}

export function DeleteKeyDialog({ apiKey, isOpen, onClose, onDeleted }: DeleteKeyDialogProps) {
  const client = useQueryClient();
  const refresh = useRefreshKeys();
  const isOwn = useSignedInWith(apiKey);
  const remove = useMutation({
    mutationFn: () => deleteKey(apiKey.hash),
    onSuccess: async () => {
      onClose();
      showToast({ tone: 'good', text: `Deleted ${apiKey.name}` });
      await onDeleted?.();
      client.removeQueries({ queryKey: keyQuery(apiKey.hash).queryKey });
      await refresh();
    },
  });
  return (
    <ConfirmDialog
      title="Delete key"
      name={apiKey.name}
      action="Delete"
      isOpen={isOpen}
      mutation={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      Calls with this key are refused from now on. This cannot be undone; its generations stay.
      {isOwn && ' You are signed in with it: this signs you out.'}
    </ConfirmDialog>
  );
}

/** Whether the session is that of the key. */
function useSignedInWith({ hash }: ApiKey): boolean {
  const session = useSession();
  return session.kind !== 'person' && session.key_hash === hash;
}

/** Enabling needs no question. */
export function useEnableKey(): (apiKey: ApiKey) => void {
  const refresh = useRefreshKeys();
  const enable = useMutation({
    mutationFn: (apiKey: ApiKey) => updateKey(apiKey.hash, { disabled: false }),
    onSuccess: (_changed, apiKey) => {
      showToast({ tone: 'good', text: `Enabled ${apiKey.name}` });
      return refresh();
    },
    onError: (error) => showToast({ tone: 'bad', text: error.message }),
  });
  return (apiKey) => enable.mutate(apiKey);
}
