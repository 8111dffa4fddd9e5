// Dialogs: one for forms, one that asks before an action that cannot be undone.
import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { messageOf } from '../../api/problems';
import { Button, IconButton } from '../actions/button';
import { Notice } from '../feedback/states';
import styles from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** False: a click beside it does not close it, because it shows something that is shown once. */
  readonly isDismissible?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, description, isOpen, onClose, isDismissible = true, children }: DialogProps) {
  return (
    <BaseDialog.Root
      open={isOpen}
      disablePointerDismissal={!isDismissible}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup className={styles.dialog}>
          <div className={styles.head}>
            <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
            <BaseDialog.Close render={<IconButton icon="close" label="Close" />} />
          </div>
          {description !== undefined && (
            <BaseDialog.Description className={styles.description}>{description}</BaseDialog.Description>
          )}
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ConfirmDialogProps {
  /** "Delete key" */
  readonly title: string;
  /** The object, by the name that the user knows. */
  readonly name: string;
  /** The consequence. */
  readonly children: ReactNode;
  /** "Delete" */
  readonly action: string;
  readonly isOpen: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, name, children, action, isOpen, isBusy, error, onConfirm, onClose } = props;
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={styles.backdrop} />
        <AlertDialog.Popup className={styles.dialog}>
          <div className={styles.head}>
            <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          </div>
          <AlertDialog.Description className={styles.description} render={<div />}>
            <p className={styles.object}>
              <bdi>{name}</bdi>
            </p>
            <p>{children}</p>
          </AlertDialog.Description>
          {error !== null && error !== undefined && <Notice tone="bad">{messageOf(error)}</Notice>}
          <div className={styles.buttons}>
            <AlertDialog.Close render={<Button>Cancel</Button>} />
            <Button variant="danger" isBusy={isBusy} onClick={onConfirm}>
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogButtons({ children }: { readonly children: ReactNode }) {
  return <div className={styles.buttons}>{children}</div>;
}

interface SubmitButtonsProps {
  /** The name of the button that sends the form. */
  readonly action: string;
  readonly isBusy: boolean;
  readonly onCancel: () => void;
}

/** The end of a form in a dialog. */
export function SubmitButtons({ action, isBusy, onCancel }: SubmitButtonsProps) {
  return (
    <DialogButtons>
      <Button onClick={onCancel}>Cancel</Button>
      <Button variant="primary" type="submit" isBusy={isBusy}>
        {action}
      </Button>
    </DialogButtons>
  );
}
