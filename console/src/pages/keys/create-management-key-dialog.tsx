// A new management key: one for each person or program, so that the audit log names who changed what.
import { useState } from 'react';
import { useMutation } from '@tanstack/react-query';
import { createKey } from '../../api/keys';
import { isoTimeOfLocal, localMinute } from '../../api/iso-time';
import { LAST_MINUTE } from '../../components/form/draft-input';
import { Form, TextField } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { useRefreshKeys } from './key-dialogs';
import type { DialogProps } from './key-dialogs';
import { KeySecretView } from './key-secret';

const OFFERED_MS = 90 * 86_400_000;

export function CreateManagementKeyDialog({ isOpen, onClose }: DialogProps) {
  const refresh = useRefreshKeys();
  const [offered] = useState(() => localMinute(new Date(Date.now() + OFFERED_MS).toISOString()));
  const create = useMutation({ mutationFn: createKey });
  const close = () => {
    onClose();
    if (create.data) void refresh();
    create.reset();
  };
  return (
    <Dialog
      title={create.data ? 'Management key created' : 'Create management key'}
      description="It opens this console and changes everything in the account. It makes no calls."
      isOpen={isOpen}
      isDismissible={!create.data}
      onClose={close}
    >
      {create.data ? (
        <KeySecretView secret={create.data.key} model="" isManagement onDone={close} />
      ) : (
        <Form
          fields={['name', 'expires_at']}
          error={create.error}
          onSubmit={(values) => {
            const expiry = values.textOrNull('expires_at');
            create.mutate({
              name: values.text('name'),
              is_management_key: true,
              // The service names the field of a text that is no time.
              expires_at: expiry === null ? null : (isoTimeOfLocal(expiry) ?? expiry),
            });
          }}
        >
          <TextField
            name="name"
            label="Name"
            placeholder="Ada Lovelace"
            dir="auto"
            autoFocus
            hint="Of the person or program. The audit log shows it beside each change."
          />
          <TextField
            name="expires_at"
            label="Expires"
            type="datetime-local"
            max={LAST_MINUTE}
            defaultValue={offered}
            hint="In your time zone. Empty: never. An expired key does not come back."
          />
          <SubmitButtons action="Create management key" isBusy={create.isPending} onCancel={close} />
        </Form>
      )}
    </Dialog>
  );
}
