// The menu of a key, and the dialog of the chosen action.
import type { ApiKey } from '../../api/keys';
import { ActionMenu } from '../../components/overlay/action-menu';
import {
  DeleteKeyDialog,
  DisableKeyDialog,
  EditKeyDialog,
  RotateKeyDialog,
  useEnableKey,
} from './key-dialogs';
import { useCanChangeKey } from './key-rights';

const DIALOGS = {
  edit: EditKeyDialog,
  rotate: RotateKeyDialog,
  disable: DisableKeyDialog,
  delete: DeleteKeyDialog,
} as const;

/** An action that asks or shows something. The page has it, not the row of the key: a search or a load takes rows away. */
export interface KeyAction {
  readonly name: keyof typeof DIALOGS;
  readonly apiKey: ApiKey;
}

interface KeyMenuProps {
  readonly apiKey: ApiKey;
  readonly onChoose: (action: KeyAction) => void;
}

export function KeyMenu({ apiKey, onChoose }: KeyMenuProps) {
  const enable = useEnableKey();
  const canChange = useCanChangeKey(apiKey);
  const choose = (name: KeyAction['name']) => () => onChoose({ name, apiKey });
  if (!canChange) return null;
  return (
    <ActionMenu
      label={`Actions for ${apiKey.name}`}
      actions={[
        { label: 'Edit', onSelect: choose('edit') },
        { label: 'Rotate', onSelect: choose('rotate') },
        apiKey.disabled
          ? { label: 'Enable', onSelect: () => enable(apiKey) }
          : { label: 'Disable', onSelect: choose('disable') },
        { label: 'Delete', onSelect: choose('delete'), isDangerous: true },
      ]}
    />
  );
}

interface KeyActionDialogProps {
  /** Null: no dialog is open. */
  readonly action: KeyAction | null;
  readonly onClose: () => void;
  readonly onDeleted?: () => Promise<void>;
}

export function KeyActionDialog({ action, onClose, onDeleted }: KeyActionDialogProps) {
  if (action === null) return null;
  const ActionDialog = DIALOGS[action.name];
  return <ActionDialog apiKey={action.apiKey} isOpen onClose={onClose} onDeleted={onDeleted} />;
}
