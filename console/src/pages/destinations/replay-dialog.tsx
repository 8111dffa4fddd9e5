// Delivers again: everything since a time, or dead letters.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { DESTINATIONS, replayDeliveries } from '../../api/destinations';
import type { Replay } from '../../api/destinations';
import { isoTime, isoTimeOfLocal } from '../../api/iso-time';
import { showToast } from '../../components/feedback/toasts';
import { Form, SelectField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { LAST_MINUTE } from '../../components/form/draft-input';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { formatCountOf } from '../../format';

const MINUTE_MS = 60_000;
const CHOICES = [
  { value: 'letters', label: 'All dead letters' },
  { value: '15', label: 'Everything of the last 15 minutes' },
  { value: '60', label: 'Everything of the last hour' },
  { value: '360', label: 'Everything of the last 6 hours' },
  { value: '1435', label: 'Everything of the last 24 hours' },
  { value: 'time', label: 'Everything since a time' },
];

function readReplay(values: FormValues): Replay {
  const what = values.text('what');
  if (what === 'letters') return { dead_letters: 'all' };
  if (what !== 'time') return { from: isoTime(Date.now() - Number(what) * MINUTE_MS) };
  return { from: isoTimeOfLocal(values.text('from')) ?? '' };
}

interface ReplayDialogProps {
  readonly id: string;
  readonly name: string;
  readonly deadLetters: number;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function ReplayDialog({ name, isOpen, ...form }: ReplayDialogProps) {
  return (
    <Dialog
      title={`Replay to ${name}`}
      description="The platform receives these generations again. Most platforms recognise those that they have by their id."
      isOpen={isOpen}
      onClose={form.onClose}
    >
      <ReplayForm {...form} />
    </Dialog>
  );
}

/** Exists while the dialog is open: what is offered first does not change under the reader. */
function ReplayForm({ id, deadLetters, onClose }: Omit<ReplayDialogProps, 'name' | 'isOpen'>) {
  const client = useQueryClient();
  const [what, setWhat] = useState(deadLetters > 0 ? 'letters' : '60');
  const replay = useMutation({
    mutationFn: (body: Replay) => replayDeliveries(id, body),
    onSuccess: async (letters) => {
      await client.invalidateQueries({ queryKey: [...DESTINATIONS, id] });
      showToast({
        tone: 'good',
        text:
          letters === null
            ? 'The replay has begun.'
            : `Sent again: ${formatCountOf(letters, 'dead letter')}.`,
      });
      onClose();
    },
  });
  return (
    <Form fields={['from']} error={replay.error} onSubmit={(values) => replay.mutate(readReplay(values))}>
      <SelectField
        name="what"
        label="Send again"
        choices={CHOICES}
        value={what}
        onChange={({ target }) => setWhat(target.value)}
      />
      {what === 'time' && (
        <TextField
          name="from"
          label="Since"
          type="datetime-local"
          max={LAST_MINUTE}
          hint="In your time zone, at most 24 hours ago."
        />
      )}
      <SubmitButtons action="Replay" isBusy={replay.isPending} onCancel={onClose} />
    </Form>
  );
}
