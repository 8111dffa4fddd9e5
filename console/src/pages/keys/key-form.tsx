// The form of a key, for a new one and for changes.
import type { ReactNode } from 'react';
import type { ApiKey, KeyChange, NewKey } from '../../api/keys';
import { isoTimeOfLocal, localMinute } from '../../api/iso-time';
import { FieldRow, Form, SelectField, SwitchField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { LAST_MINUTE } from '../../components/form/draft-input';
import { KEY_RESETS } from './key-resets';

const FIELDS = ['name', 'limit', 'limit_reset', 'expires_at', 'include_byok_in_limit', 'embedding_cache'];

interface KeyFormProps {
  /** Absent: a new key. */
  readonly apiKey?: ApiKey;
  readonly error: unknown;
  readonly onSubmit: (values: FormValues, initial: FormValues) => void;
  readonly children: ReactNode;
}

export function KeyForm({ apiKey, error, onSubmit, children }: KeyFormProps) {
  return (
    <Form fields={FIELDS} error={error} onSubmit={onSubmit}>
      <TextField
        name="name"
        label="Name"
        defaultValue={apiKey?.name}
        placeholder="Search team"
        dir="auto"
        autoFocus
      />
      <FieldRow>
        <TextField
          name="limit"
          label="Spend limit"
          prefix="USD"
          inputMode="decimal"
          defaultValue={apiKey?.limit ?? undefined}
          placeholder="No limit"
        />
        <SelectField
          name="limit_reset"
          label="Limit resets"
          choices={KEY_RESETS}
          defaultValue={apiKey?.limit_reset ?? ''}
          hint="At 00:00 UTC."
        />
      </FieldRow>
      <TextField
        name="expires_at"
        label="Expires"
        type="datetime-local"
        max={LAST_MINUTE}
        defaultValue={apiKey?.expires_at ? localMinute(apiKey.expires_at) : undefined}
        hint="In your time zone. Empty: never. An expired key does not come back."
      />
      <SwitchField
        name="include_byok_in_limit"
        label="Count calls with own provider keys towards the limit"
        defaultChecked={apiKey?.include_byok_in_limit ?? false}
      />
      <SwitchField
        name="embedding_cache"
        label="Cache embeddings"
        defaultChecked={apiKey?.embedding_cache ?? false}
        hint="A repeated input is answered from the cache and costs nothing."
      />
      {children}
    </Form>
  );
}

/** The members that a change and a new key share. */
export function readKeyChange(values: FormValues): KeyChange & NewKey {
  const expiry = values.textOrNull('expires_at');
  return {
    name: values.text('name'),
    limit: values.numberOrNull('limit'),
    limit_reset: (values.textOrNull('limit_reset') as KeyChange['limit_reset']) ?? null,
    include_byok_in_limit: values.flag('include_byok_in_limit'),
    embedding_cache: values.flag('embedding_cache'),
    // The service names the field of a text that is no time.
    expires_at: expiry === null ? null : (isoTimeOfLocal(expiry) ?? expiry),
  };
}

export function readNewKey(values: FormValues, workspaceId: string): NewKey {
  return { ...readKeyChange(values), workspace_id: workspaceId };
}
