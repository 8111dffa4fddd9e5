// The bounds of the keys that developers make for themselves in a workspace.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ownKeyPolicyQuery, setOwnKeyPolicy } from '../../api/own-keys';
import type { OwnKeyPolicy, OwnKeyPolicyChange } from '../../api/own-keys';
import { Button } from '../../components/actions/button';
import { DescriptionList, Section } from '../../components/display/section';
import { EmptyState, ErrorState, Notice, Placeholder } from '../../components/feedback/states';
import { showToast } from '../../components/feedback/toasts';
import { FieldRow, Form, SelectField, SwitchField, TextField } from '../../components/form/form';
import type { FormValues } from '../../components/form/form';
import { Dialog, SubmitButtons } from '../../components/overlay/dialog';
import { KEY_RESETS } from '../keys/key-resets';
import { boundsOf } from '../my-keys/policy-words';

interface OwnKeyPolicySectionProps {
  readonly workspaceId: string;
  readonly canChange: boolean;
  /** False: it is not loaded again. */
  readonly isLive: boolean;
}

export function OwnKeyPolicySection({ workspaceId, canChange, isLive }: OwnKeyPolicySectionProps) {
  const { data, error, refetch } = useQuery({ ...ownKeyPolicyQuery(workspaceId), enabled: isLive });
  const [isOpen, setOpen] = useState(false);
  const edit = data !== undefined && canChange && (
    <Button onClick={() => setOpen(true)}>{data.enabled ? 'Change bounds' : 'Allow own keys'}</Button>
  );
  return (
    <Section
      title="Own keys"
      description="Developers of the workspace make keys for themselves, within these bounds. They end with the person."
      actions={data?.enabled === true && edit}
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Placeholder lines={5} />
      ) : data.enabled ? (
        <>
          <DescriptionList items={boundsOf(data)} />
          {data.max_limit === null && (
            <Notice tone="warning">
              A key may be without a limit: guardrails and the budgets of the workspace alone stop it.
            </Notice>
          )}
        </>
      ) : (
        <EmptyState title="Developers make no keys for themselves" action={edit}>
          With bounds they need no administrator for a key: how many, how much each may spend, and for how
          long.
        </EmptyState>
      )}
      {isOpen && data !== undefined && (
        <PolicyDialog workspaceId={workspaceId} policy={data} onClose={() => setOpen(false)} />
      )}
    </Section>
  );
}

const FIELDS = ['max_keys', 'default_limit', 'max_limit', 'limit_reset', 'max_days'];

interface PolicyDialogProps {
  readonly workspaceId: string;
  readonly policy: OwnKeyPolicy;
  readonly onClose: () => void;
}

function PolicyDialog({ workspaceId, policy, onClose }: PolicyDialogProps) {
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (body: OwnKeyPolicyChange) => setOwnKeyPolicy(workspaceId, body),
    onSuccess: async (saved) => {
      onClose();
      client.setQueryData(ownKeyPolicyQuery(workspaceId).queryKey, saved);
      showToast({ tone: 'good', text: 'The bounds were saved. Keys that exist stay as they are.' });
    },
  });
  return (
    <Dialog title="Bounds of own keys" isOpen onClose={onClose}>
      <Form fields={FIELDS} error={save.error} onSubmit={(values) => save.mutate(readPolicy(values))}>
        <SwitchField
          name="enabled"
          label="Developers make keys for themselves"
          // The dialog of a policy that is off is opened to allow them.
          defaultChecked
          hint="Off: they keep those that they have, and change or rotate none."
        />
        <FieldRow>
          <TextField
            name="max_keys"
            label="Keys of one person"
            inputMode="numeric"
            defaultValue={policy.max_keys}
            hint="At most, without deleted and expired ones."
          />
          <TextField
            name="max_days"
            label="Days until a key expires"
            inputMode="numeric"
            defaultValue={policy.max_days ?? (policy.enabled ? undefined : 90)}
            hint="At most. Empty: keys may be without an expiry."
          />
        </FieldRow>
        <FieldRow>
          <TextField
            name="max_limit"
            label="Highest limit"
            prefix="USD"
            inputMode="decimal"
            defaultValue={policy.max_limit ?? undefined}
            hint="Empty: keys may be without one."
          />
          <TextField
            name="default_limit"
            label="Limit of keys that name none"
            prefix="USD"
            inputMode="decimal"
            defaultValue={policy.default_limit ?? undefined}
            hint="Empty: the highest one."
          />
        </FieldRow>
        <SelectField
          name="limit_reset"
          label="Limits reset"
          choices={KEY_RESETS}
          defaultValue={policy.limit_reset ?? (policy.enabled ? '' : 'monthly')}
          hint="At 00:00 UTC."
        />
        <SwitchField
          name="include_byok_in_limit"
          label="Count calls with own provider keys towards the limits"
          defaultChecked={policy.include_byok_in_limit}
        />
        <SubmitButtons action="Save" isBusy={save.isPending} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

function readPolicy(values: FormValues): OwnKeyPolicyChange {
  const maxKeys = values.numberOrNull('max_keys');
  return {
    enabled: values.flag('enabled'),
    // The service has a default.
    ...((maxKeys !== null && { max_keys: maxKeys }) as Pick<OwnKeyPolicyChange, 'max_keys'>),
    default_limit: values.numberOrNull('default_limit'),
    max_limit: values.numberOrNull('max_limit'),
    limit_reset: values.textOrNull('limit_reset') as NonNullable<OwnKeyPolicyChange['limit_reset']> | null,
    max_days: values.numberOrNull('max_days'),
    include_byok_in_limit: values.flag('include_byok_in_limit'),
  };
}
