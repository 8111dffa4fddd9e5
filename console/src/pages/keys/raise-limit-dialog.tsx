// Raises the limit that refuses the calls of a key.
import type { ApiKey } from '../../api/keys';
import { Form, TextField } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { decimalText, formatMoney, roundUsd } from '../../format';
import { suggestedLimit } from '../refusals/refused-now';
import type { RefusedNow } from '../refusals/refused-now';
import { useEditKey } from './key-dialogs';
import { windowName } from './key-limits';

export type RefusedByLimit = Pick<Extract<RefusedNow, { kind: 'limit' }>, 'limit' | 'needed'>;

interface RaiseLimitDialogProps {
  readonly apiKey: ApiKey;
  readonly refused: RefusedByLimit;
  readonly onClose: () => void;
}

export function RaiseLimitDialog({ apiKey, refused: { limit, needed }, onClose }: RaiseLimitDialogProps) {
  const edit = useEditKey(apiKey, onClose);
  const least = roundUsd(limit.spend_usd + (needed ?? 0));
  return (
    <Dialog title="Raise the limit" description={<bdi>{apiKey.name}</bdi>} isOpen onClose={onClose}>
      <Form
        fields={['limit']}
        error={edit.error}
        onSubmit={(values) => edit.mutate({ limit: values.numberOrNull('limit') })}
      >
        <TextField
          name="limit"
          label={`Spend limit ${windowName(apiKey.limit_reset)}`}
          prefix="USD"
          inputMode="decimal"
          defaultValue={decimalText(suggestedLimit(limit, needed ?? 0))}
          placeholder="No limit"
          autoFocus
          hint={`${formatMoney(limit.spend_usd)} are spent. ${
            needed === null
              ? 'Calls are accepted above that.'
              : `Such a call is accepted from ${formatMoney(least)} on.`
          }`}
        />
        <SubmitButtons action="Raise" isBusy={edit.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
