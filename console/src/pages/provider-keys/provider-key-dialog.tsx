// The form of a provider key, for a new one and for changes.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { createProviderKey, updateProviderKey } from '../../api/provider-keys';
import type { NewProviderKey, ProviderKey, ProviderKeyChange } from '../../api/provider-keys';
import type { Provider } from '../../api/providers';
import { showToast } from '../../components/feedback/toasts';
import { changedMembers } from '../../components/form/changes';
import { FieldRow, Form, SelectField, TextAreaField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { KeyChoice } from '../../components/form/key-choice';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';

const USES = [
  { value: 'first', label: "Before the service's key" },
  { value: 'only', label: "Instead of the service's key: never use that" },
  { value: 'fallback', label: "After the service's key" },
];
const RETENTIONS = [
  { value: '', label: 'As the catalogue says' },
  { value: 'true', label: 'It retains nothing' },
  { value: 'false', label: 'It retains data' },
];

function useOf(key: ProviderKey | undefined): string {
  if (key?.is_required) return 'only';
  return key?.is_fallback ? 'fallback' : 'first';
}

function readChange(values: FormValues, keys: readonly string[] | null): ProviderKeyChange {
  const models = values
    .text('allowed_models')
    .split(/[\s,]+/)
    .filter(Boolean);
  const retention = values.text('declared_zdr');
  const use = values.text('use');
  return {
    name: values.textOrNull('name'),
    sort_order: values.numberOrNull('sort_order') ?? 0,
    is_fallback: use === 'fallback',
    is_required: use === 'only',
    allowed_models: models.length === 0 ? null : models,
    allowed_api_key_hashes: keys === null ? null : [...keys],
    declared_zdr: retention === '' ? null : retention === 'true',
    ...(values.text('key') === '' ? {} : { key: values.text('key') }),
  };
}

interface ProviderKeyDialogProps {
  /** Absent: a new one. */
  readonly providerKey: ProviderKey | undefined;
  readonly workspaceId: string;
  readonly providers: readonly Provider[];
  readonly onClose: () => void;
  readonly onSaved: () => Promise<void>;
}

export function ProviderKeyDialog(props: ProviderKeyDialogProps) {
  const { providerKey, workspaceId, providers, onClose, onSaved } = props;
  const [keys, setKeys] = useState<readonly string[] | null>(providerKey?.allowed_api_key_hashes ?? null);
  const save = useMutation({
    mutationFn: ({ values, initial }: { values: FormValues; initial: FormValues }) => {
      const change = readChange(values, keys);
      if (providerKey !== undefined) {
        const former = readChange(initial, providerKey.allowed_api_key_hashes);
        return updateProviderKey(providerKey.id, changedMembers(change, former));
      }
      return createProviderKey({
        ...change,
        key: values.text('key'),
        provider: values.text('provider') as NewProviderKey['provider'],
        workspace_id: workspaceId,
      });
    },
    onSuccess: async ({ name, label }) => {
      onClose();
      showToast({ tone: 'good', text: `${name ?? label} was saved.` });
      await onSaved();
    },
  });
  return (
    <Dialog
      title={providerKey === undefined ? 'Add provider key' : 'Edit provider key'}
      isOpen
      onClose={onClose}
    >
      <Form
        fields={['name', 'provider', 'key', 'sort_order', 'allowed_models', 'declared_zdr']}
        error={save.error}
        onSubmit={(values, initial) => save.mutate({ values, initial })}
      >
        <FieldRow>
          {providerKey === undefined && (
            <SelectField
              name="provider"
              label="Provider"
              choices={providers.map(({ slug, name }) => ({ value: slug, label: name }))}
            />
          )}
          <TextField
            name="name"
            label="Name (optional)"
            defaultValue={providerKey?.name ?? ''}
            placeholder="Production"
            dir="auto"
          />
        </FieldRow>
        <TextField
          name="key"
          label={providerKey === undefined ? 'Key' : 'New key (optional)'}
          type="password"
          autoComplete="new-password"
          spellCheck={false}
          placeholder={providerKey?.label}
          hint={
            providerKey === undefined
              ? 'Stored encrypted, and never shown again.'
              : 'Empty: the stored key stays.'
          }
        />
        <FieldRow>
          <SelectField name="use" label="Use it" choices={USES} defaultValue={useOf(providerKey)} />
          <TextField
            name="sort_order"
            label="Order"
            inputMode="numeric"
            defaultValue={providerKey?.sort_order ?? 0}
            hint="Lower ones are tried first."
          />
        </FieldRow>
        <TextAreaField
          name="allowed_models"
          label="Models (optional)"
          rows={2}
          spellCheck={false}
          defaultValue={providerKey?.allowed_models?.join('\n') ?? ''}
          placeholder="openai/text-embedding-3-small"
          hint="Ids, one on each line. Empty: every model of the provider."
        />
        <KeyChoice legend="Keys that may use it" workspaceId={workspaceId} chosen={keys} onChange={setKeys} />
        <SelectField
          name="declared_zdr"
          label="Data retention of your account"
          choices={RETENTIONS}
          defaultValue={
            providerKey === undefined || providerKey.declared_zdr === null
              ? ''
              : String(providerKey.declared_zdr)
          }
        />
        <SubmitButtons action="Save" isBusy={save.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
