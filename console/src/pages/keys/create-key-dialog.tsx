// A new key, and its secret once it exists.
import { useMutation, useQuery } from '@tanstack/react-query';
import { createKey } from '../../api/keys';
import { exampleModel, modelsQuery } from '../../api/models';
import { useSession, useWorkspaceId, useWorkspaceScope } from '../../app/workspace';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { useRefreshKeys } from './key-dialogs';
import type { DialogProps } from './key-dialogs';
import { KeyForm, readNewKey } from './key-form';
import { KeySecretView } from './key-secret';

interface CreateKeyDialogProps extends DialogProps {
  /** With the secret of a key for calls, when the reader has seen it. */
  readonly onCreated?: (secret: string) => void;
}

export function CreateKeyDialog({ isOpen, onClose, onCreated }: CreateKeyDialogProps) {
  const workspaceId = useWorkspaceId();
  const isOfAll = useWorkspaceScope() === null;
  const { workspace_name: own } = useSession();
  const refresh = useRefreshKeys();
  const { data: models } = useQuery(modelsQuery);
  const create = useMutation({ mutationFn: createKey });
  const close = () => {
    onClose();
    if (create.data) {
      if (!create.data.data.is_management_key) onCreated?.(create.data.key);
      void refresh();
    }
    create.reset();
  };
  return (
    <Dialog
      title={create.data ? 'Key created' : 'Create key'}
      description={isOfAll && !create.data ? <>In the workspace {own}.</> : undefined}
      isOpen={isOpen}
      isDismissible={!create.data}
      onClose={close}
    >
      {create.data ? (
        <KeySecretView
          secret={create.data.key}
          model={exampleModel(models)}
          isManagement={create.data.data.is_management_key}
          onDone={close}
        />
      ) : (
        <KeyForm error={create.error} onSubmit={(values) => create.mutate(readNewKey(values, workspaceId))}>
          <SubmitButtons action="Create key" isBusy={create.isPending} onCancel={close} />
        </KeyForm>
      )}
    </Dialog>
  );
}
