// Asks before a page with changes that are not saved is left.
import type { LeaveQuestion } from '../../app/page-hold';
import { ConfirmDialog } from './dialog';

const NOTHING_PENDING = { isPending: false, error: null, reset: () => undefined };

interface LeaveDialogProps {
  /** The object that the page changes. */
  readonly name: string;
  readonly question: LeaveQuestion;
}

export function LeaveDialog({ name, question }: LeaveDialogProps) {
  return (
    <ConfirmDialog
      title="Leave without saving"
      name={name}
      action="Leave"
      isOpen={question.isAsked}
      mutation={NOTHING_PENDING}
      onConfirm={question.leave}
      onClose={question.stay}
    >
      Changes that are not saved are lost.
    </ConfirmDialog>
  );
}
