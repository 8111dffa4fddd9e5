// The key that a call of the playground is charged to.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { keyChoicesQuery } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { useSession, useWorkspaceId } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import { SelectField } from '../../components/form/form';

export interface Payer {
  /** Undefined: the key of the session. */
  readonly hash: string | undefined;
  /** Null: the session is that of an inference key, which pays for its own calls alone. */
  readonly choices: readonly ApiKey[] | null;
  readonly choose: (hash: string) => void;
}

interface WithPayerProps {
  readonly title: string;
  readonly children: (payer: Payer) => ReactNode;
}

/** Shows its children when the key that pays is known, since no call can be sent before. */
export function WithPayer({ title, children }: WithPayerProps) {
  const isManagement = useSession().kind === 'management';
  const keys = useQuery({ ...keyChoicesQuery(useWorkspaceId()), enabled: isManagement });
  const [chosen, choose] = useState<string>();
  if (!isManagement) return children({ hash: undefined, choices: null, choose });
  const choices = keys.data?.filter((key) => !key.is_management_key && !key.disabled);
  const hash = (choices?.find((key) => key.hash === chosen) ?? choices?.[0])?.hash;
  if (choices !== undefined && hash !== undefined) return children({ hash, choices, choose });
  return (
    <Section title={title}>
      {choices !== undefined ? (
        <NoPayer />
      ) : keys.error !== null ? (
        <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
      ) : (
        <Placeholder lines={12} />
      )}
    </Section>
  );
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

function NoPayer() {
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
