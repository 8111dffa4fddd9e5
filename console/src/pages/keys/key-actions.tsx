// The menu of a key, and the dialog of the chosen action.
import { useState } from 'react';
import type { ApiKey } from '../../api/keys';
import { ActionMenu } from '../../components/overlay/action-menu';
import {
  DeleteKeyDialog,
  DisableKeyDialog,
  EditKeyDialog,
  RotateKeyDialog,
  useEnableKey,
} from './key-dialogs';

const DIALOGS = {
  edit: EditKeyDialog,
  rotate: RotateKeyDialog,
  disable: DisableKeyDialog,
  delete: DeleteKeyDialog,
} as const;

interface KeyActionsProps {
  readonly apiKey: ApiKey;
  readonly onDeleted?: () => void;
}

export function KeyActions({ apiKey, onDeleted }: KeyActionsProps) {
  const [action, setAction] = useState<keyof typeof DIALOGS | null>(null);
  const enable = useEnableKey();
  const ActionDialog = action === null ? null : DIALOGS[action];
  return (
    <>
      <ActionMenu
        label={`Actions for ${apiKey.name}`}
        actions={[
          { label: 'Edit', onSelect: () => setAction('edit') },
          { label: 'Rotate', onSelect: () => setAction('rotate') },
          apiKey.disabled
            ? { label: 'Enable', onSelect: () => enable(apiKey) }
            : { label: 'Disable', onSelect: () => setAction('disable') },
          { label: 'Delete', onSelect: () => setAction('delete'), isDangerous: true },
        ]}
      />
      {ActionDialog !== null && (
        <ActionDialog apiKey={apiKey} isOpen onClose={() => setAction(null)} onDeleted={onDeleted} />
      )}
    </>
  );
}
