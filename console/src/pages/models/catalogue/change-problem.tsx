// Why a change of the catalogue was refused, and the next step.
import { ApiError } from '../../../api/client';
import { isOvertaken } from '../../../api/catalogue';
import { messageOf } from '../../../api/problems';
import { Button } from '../../../components/actions/button';
import { Notice } from '../../../components/feedback/states';

export const NOT_AN_OPERATOR =
  'You may read the catalogue. Changes need a management key, or an admin, of an operator account, which OPERATOR_ACCOUNTS of the service names.';
export const OF_FILE =
  'CATALOGUE_FILE defines this model. Change it in that file; the service reads it again by itself.';

/** In words that say what to do; undefined: the message of the service says it. */
export function wordsOf(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 403) return `${NOT_AN_OPERATOR} Nothing was changed.`;
  if (error.status !== 409) return undefined;
  if (error.message.includes('CATALOGUE_FILE')) return OF_FILE;
  return isOvertaken(error)
    ? 'Another person has changed this model since you opened it. Nothing was saved, and your text is still here. Look at their change in the history, or save yours over the newest revision: it changes only your members.'
    : undefined;
}

/** Errors of members stay with their fields. */
export const plainError = (error: unknown): unknown => {
  const words = wordsOf(error);
  return words === undefined ? error : new Error(words);
};

interface ChangeProblemProps {
  readonly error: unknown;
  readonly saveOverNewest?: (() => void) | undefined;
}

export function ChangeProblem({ error, saveOverNewest }: ChangeProblemProps) {
  if (error === null || error === undefined) return null;
  return (
    <Notice tone="bad">
      <p>{wordsOf(error) ?? messageOf(error)}</p>
      {saveOverNewest && <Button onClick={saveOverNewest}>Save over the newest revision</Button>}
    </Notice>
  );
}
