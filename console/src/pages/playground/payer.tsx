// The key that a call of the playground is charged to.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { keyChoicesQuery } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { useSession, useWorkspaceId } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { EmptyState } from '../../components/feedback/states';
import { SelectField } from '../../components/form/form';

export interface Payer {
  /** Undefined: the key of the session, or none has loaded yet. */
  readonly hash: string | undefined;
  /** Null: the session is that of an inference key, which pays for its own calls alone. */
  readonly choices: readonly ApiKey[] | null;
  /** The workspace has no key that can pay. */
  readonly isMissing: boolean;
  readonly choose: (hash: string) => void;
}

export function usePayer(): Payer {
  const isManagement = useSession().kind === 'management';
  const keys = useQuery({ ...keyChoicesQuery(useWorkspaceId()), enabled: isManagement });
  const [chosen, choose] = useState<string>();
  const usable = keys.data?.filter((key) => !key.is_management_key && !key.disabled);
  const hash = usable?.some((key) => key.hash === chosen) ? chosen : usable?.[0]?.hash;
  return {
    hash: isManagement ? hash : undefined,
    choices: isManagement ? (usable ?? []) : null,
    isMissing: isManagement && usable?.length === 0,
    choose,
  };
}

export function PayerField({ payer: { hash, choices, choose } }: { readonly payer: Payer }) {
  if (choices === null) return null;
  return (
    <SelectField
      name="key"
      label="Key to charge"
      choices={choices.map((key) => ({ value: key.hash, label: `${key.name.slice(0, 60)} (${key.label})` }))}
      value={hash ?? ''}
      onChange={({ target }) => choose(target.value)}
    />
  );
}

export function NoPayer() {
  return (
    <EmptyState
      title="No key to charge"
      action={
        <Link to="/keys" className={buttonClass('primary')}>
          Go to keys
        </Link>
      }
    >
      A call is charged to a key of this workspace. Create one first.
    </EmptyState>
  );
}
