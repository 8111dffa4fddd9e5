// Dialogs: one for forms, one that asks before an action that cannot be undone.
import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { UseMutationResult } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode, RefObject } from 'react';
import { messageOf } from '../../api/problems';
import { useHeldPage, useUnloadQuestion } from '../../app/page-hold';
import { isSessionEnded } from '../../app/session-end';
import { Button, IconButton } from '../actions/button';
import { Notice } from '../feedback/states';
import styles from './dialog.module.css';

/** Says whether the form of the dialog waits for an answer. */
const BusyContext = createContext<(isBusy: boolean) => void>(() => undefined);

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** False: it shows something that is shown once, and only its buttons close it. */
  readonly isDismissible?: boolean;
  /** Takes the focus; absent: the first element that can. */
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}

/** Gives the focus back to the element that had it when the dialog opened, even if the dialog is removed at once. */
function useReturnedFocus(isOpen: boolean): () => HTMLElement | null {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (isOpen && !wasOpen.current && document.activeElement instanceof HTMLElement)
      opener.current = document.activeElement;
    wasOpen.current = isOpen;
  }, [isOpen]);
  useEffect(
    () => () => {
      const element = opener.current;
      setTimeout(() => {
        if (document.activeElement === document.body) element?.focus();
      });
    },
    [],
  );
  return () => (opener.current?.isConnected === true ? opener.current : null);
}

export function Dialog(props: DialogProps) {
  const { title, description, isOpen, onClose, isDismissible = true, initialFocus, children } = props;
  const returnFocus = useReturnedFocus(isOpen);
  const [isBusy, setBusy] = useState(false);
  const [isTouched, setTouched] = useState(false);
  if (isTouched && !isOpen) setTouched(false);
  useUnloadQuestion(isTouched);
  // The answer may be a secret, and may end the session: a request of the page can fail before it arrives.
  useHeldPage(isOpen && (isBusy || !isDismissible));
  return (
    <BaseDialog.Root
      open={isOpen}
      // A click beside the dialog takes nothing that was typed.
      disablePointerDismissal={!isDismissible || isTouched}
      onOpenChange={(open, { reason }) => {
        // A closed dialog could not show the answer. The sign-in above it belongs to no dialog.
        if (open || isBusy || isSessionEnded()) return;
        if (isDismissible || reason === 'close-press') onClose();
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop} />
        <BaseDialog.Popup
          className={styles.dialog}
          onChange={() => setTouched(true)}
          initialFocus={initialFocus}
          finalFocus={() => returnFocus() ?? true}
        >
          <div className={styles.head}>
            <BaseDialog.Title className={styles.title}>{title}</BaseDialog.Title>
            <BaseDialog.Close
              render={<IconButton icon="close" label="Close" aria-disabled={isBusy || undefined} />}
            />
          </div>
          {description !== undefined && (
            <BaseDialog.Description className={styles.description}>{description}</BaseDialog.Description>
          )}
          <BusyContext value={setBusy}>{children}</BusyContext>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}

interface ConfirmDialogProps {
  /** The action. Closing the dialog forgets its failure, which is that of one object. */
  readonly mutation: Pick<UseMutationResult, 'isPending' | 'error' | 'reset'>;
  /** "Delete key" */
  readonly title: string;
  /** The object, by the name that the user knows. */
  readonly name: string;
  /** The consequence. */
  readonly children: ReactNode;
  /** "Delete" */
  readonly action: string;
  readonly isOpen: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { mutation, title, name, children, action, isOpen, onConfirm, onClose } = props;
  const { isPending, error } = mutation;
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(open) => {
        if (open || isPending || isSessionEnded()) return;
        mutation.reset();
        onClose();
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
          {error !== null && <Notice tone="bad">{messageOf(error)}</Notice>}
          <div className={styles.buttons}>
            <AlertDialog.Close render={<Button aria-disabled={isPending}>Cancel</Button>} />
            <Button variant="danger" isBusy={isPending} onClick={onConfirm}>
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

/** The end of a form in a dialog. While the form waits for an answer, the dialog stays open. */
export function SubmitButtons({ action, isBusy, onCancel }: SubmitButtonsProps) {
  const setBusy = useContext(BusyContext);
  useLayoutEffect(() => {
    setBusy(isBusy);
    return () => setBusy(false);
  }, [isBusy, setBusy]);
  return (
    <DialogButtons>
      <Button aria-disabled={isBusy} onClick={onCancel}>
        Cancel
      </Button>
      <Button variant="primary" type="submit" isBusy={isBusy}>
        {action}
      </Button>
    </DialogButtons>
  );
}
