// A new key of the person, within the bounds of the workspace, and its secret once it exists.
import { useMutation } from '@tanstack/react-query';
import { isoTimeOfLocal } from '../../api/iso-time';
import { createKey } from '../../api/keys';
import type { NewKey } from '../../api/keys';
import type { OwnKeyPolicy } from '../../api/own-keys';
import { LAST_MINUTE } from '../../components/form/draft-input';
import { Form, SwitchField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { useRefreshKeys } from '../keys/key-dialogs';
import { KeySecretView } from '../keys/key-secret';
import { expiryHint, limitHint, limitPlaceholder, namedBound } from './own-key-bounds';

const FIELDS = ['name', 'limit', 'expires_at', 'embedding_cache'];

interface CreateOwnKeyDialogProps {
  readonly workspaceId: string;
  readonly personId: string;
  /** Undefined: the role has no bounds. */
  readonly policy: OwnKeyPolicy | undefined;
  readonly model: string;
  readonly onClose: () => void;
  /** With the secret, when the reader has seen it. */
  readonly onCreated: (secret: string) => void;
}

export function CreateOwnKeyDialog(props: CreateOwnKeyDialogProps) {
  const { workspaceId, personId, policy, model, onClose, onCreated } = props;
  const refresh = useRefreshKeys();
  const create = useMutation({ mutationFn: createKey });
  const close = () => {
    onClose();
    if (create.data === undefined) return;
    onCreated(create.data.key);
    void refresh();
  };
  return (
    <Dialog
      title={create.data ? 'Key created' : 'Create my key'}
      isOpen
      isDismissible={!create.data}
      onClose={close}
    >
      {create.data ? (
        <KeySecretView secret={create.data.key} model={model} isManagement={false} onDone={close} />
      ) : (
        <Form
          fields={FIELDS}
          error={namedBound(create.error)}
          onSubmit={(values) =>
            create.mutate({ ...readOwnKey(values), workspace_id: workspaceId, creator_user_id: personId })
          }
        >
          <TextField name="name" label="Name" placeholder="Laptop" dir="auto" autoFocus />
          <TextField
            name="limit"
            label="Spend limit"
            prefix="USD"
            inputMode="decimal"
            placeholder={limitPlaceholder(policy)}
            hint={limitHint(policy)}
          />
          <TextField
            name="expires_at"
            label="Expires"
            type="datetime-local"
            max={LAST_MINUTE}
            hint={expiryHint(policy, 'never')}
          />
          <SwitchField
            name="embedding_cache"
            label="Cache embeddings"
            hint="A repeated input is answered from the cache and costs nothing."
          />
          <SubmitButtons action="Create key" isBusy={create.isPending} onCancel={close} />
        </Form>
      )}
    </Dialog>
  );
}

/** Absent members are those of the workspace's bounds. */
function readOwnKey(values: FormValues): NewKey {
  const limit = values.numberOrNull('limit');
  const expiry = values.textOrNull('expires_at');
  return {
    name: values.text('name'),
    embedding_cache: values.flag('embedding_cache'),
    ...(limit !== null && { limit }),
    // The service names the field of a text that is no time.
    ...(expiry !== null && { expires_at: isoTimeOfLocal(expiry) ?? expiry }),
  };
}
