// The key that a call of the playground is charged to.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { payingKeysQuery } from '../../api/keys';
import type { ApiKey } from '../../api/keys';
import { useCan } from '../../app/rights';
import { useSession, useWorkspaceId } from '../../app/workspace';
import { buttonClass } from '../../components/actions/button';
import { Section } from '../../components/display/section';
import { EmptyState, ErrorState, Placeholder } from '../../components/feedback/states';
import { SelectField, TextField } from '../../components/form/form';
import { useSettled } from '../../components/form/use-settled';
import { formatAmount } from '../../format';

export interface Payer {
  /** Undefined: the key of the session. */
  readonly hash: string | undefined;
  /** Null: the session is that of an inference key, which pays for its own calls alone. */
  readonly choices: KeyToCharge | null;
}

interface KeyToCharge {
  /** It stays chosen until another one is. */
  readonly chosen: ApiKey;
  readonly choose: (key: ApiKey) => void;
  /** There are further keys than the first ones, which a search finds. */
  readonly hasMore: boolean;
}

interface WithPayerProps {
  readonly title: string;
  readonly children: (payer: Payer) => ReactNode;
}

/** Shows its children when the key that pays is known, since no call can be sent before. */
export function WithPayer({ title, children }: WithPayerProps) {
  const isManagement = useSession().kind !== 'inference';
  const workspaceId = useWorkspaceId();
  const isPaying = useIsPaying();
  const { data, error, refetch } = useQuery({ ...payingKeysQuery(workspaceId, ''), enabled: isManagement });
  const [choice, setChoice] = useState<{ readonly key: ApiKey; readonly workspaceId: string }>();
  if (!isManagement) return children({ hash: undefined, choices: null });
  const choose = (key: ApiKey) => setChoice({ key, workspaceId });
  if (choice?.workspaceId === workspaceId) {
    const choices = { chosen: choice.key, choose, hasMore: data?.hasMore ?? false };
    return children({ hash: choice.key.hash, choices });
  }
  const first = data && firstToPay(data.keys.filter(isPaying));
  // It stays when the keys load again: no call is charged to another one unasked.
  if (first !== undefined) choose(first);
  return (
    <Section title={title}>
      {data !== undefined ? (
        <NoPayer />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Placeholder lines={12} />
      )}
    </Section>
  );
}

/** A role may allow own keys alone. */
function useIsPaying(): (key: ApiKey) => boolean {
  const can = useCan();
  return (key) => can('playground.use', key.workspace_id, key.creator_user_id);
}

/** A key that is not stopped, one without a call that a limit has refused in the last hour before others. */
export function firstToPay(keys: readonly ApiKey[]): ApiKey | undefined {
  const able = keys.filter((key) => !isStopped(key));
  return able.find((key) => !isRefusedByLimit(key)) ?? able[0] ?? keys[0];
}

const isStopped = ({ effective_limit: limit }: ApiKey): boolean => limit !== null && limit.remaining_usd <= 0;
const isRefusedByLimit = ({ refusals }: ApiKey): boolean =>
  refusals !== null && refusals.last_hour > 0 && refusals.last_reason.endsWith('_limit');

export function PayerField({ payer: { choices } }: { readonly payer: Payer }) {
  return choices === null ? null : <KeySelect {...choices} />;
}

function KeySelect({ chosen, choose, hasMore }: KeyToCharge) {
  const [search, setSearch] = useState('');
  const part = useSettled(search.trim());
  const { data, error, isPlaceholderData } = useQuery(payingKeysQuery(useWorkspaceId(), part));
  const found = (data?.keys ?? []).filter(useIsPaying());
  const keys = found.some(({ hash }) => hash === chosen.hash) ? found : [chosen, ...found];
  return (
    <>
      {hasMore && (
        <TextField
          name="key_name"
          label="Search keys by name"
          type="search"
          maxLength={200}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          // Enter would send the form, which is a call.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      <SelectField
        name="key"
        label="Key to charge"
        choices={keys.map((key) => ({ value: key.hash, label: labelOf(key) }))}
        value={chosen.hash}
        onChange={({ target }) => {
          const key = keys.find(({ hash }) => hash === target.value);
          if (key !== undefined) choose(key);
        }}
        hint={isPlaceholderData ? undefined : hintOf(part, found.length, error)}
      />
    </>
  );
}

function labelOf(key: ApiKey): string {
  const { name, label, effective_limit: limit } = key;
  const left =
    limit === null ? '' : `, ${isStopped(key) ? 'nothing' : formatAmount(limit.remaining_usd)} left`;
  return `${name.slice(0, 60)} (${label}${left})`;
}

function hintOf(part: string, found: number, error: Error | null): string | undefined {
  if (error !== null) return 'The keys could not be loaded.';
  if (part === '') return undefined;
  return found === 0 ? 'No key that can be charged has this name.' : 'The keys with this name are listed.';
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
      A call is charged to a key of this workspace that is neither disabled nor expired. Create one first.
    </EmptyState>
  );
}
