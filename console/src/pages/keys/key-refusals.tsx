// The refused calls of a key: what refuses them now with the remedy, and the newest ones.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ApiKey } from '../../api/keys';
import { refusalsQuery } from '../../api/refusals';
import { useCan } from '../../app/rights';
import { Button, buttonClass } from '../../components/actions/button';
import { CopyButton } from '../../components/actions/copy-button';
import { useNow } from '../../components/display/clock';
import { Section } from '../../components/display/section';
import { Money, Time } from '../../components/display/values';
import { ErrorState, Notice } from '../../components/feedback/states';
import { formatCount, formatCountOf } from '../../format';
import { RefusalTable } from '../refusals/refusal-table';
import { reasonOf, refusedNow, suggestedTokens } from '../refusals/refused-now';
import type { RefusedNow } from '../refusals/refused-now';
import { REASONS } from '../refusals/refusal-words';
import { nameOfLimit } from './key-limits';
import styles from './keys.module.css';
import { useCanChangeKey } from './key-rights';
import { RaiseLimitDialog } from './raise-limit-dialog';
import type { RefusedByLimit } from './raise-limit-dialog';

/** Above the figures of the key. */
export function RefusedNotice({ apiKey }: { readonly apiKey: ApiKey }) {
  const { data: listed, isPending } = useQuery(refusalsQuery({ api_key_hash: apiKey.hash }));
  const [raised, setRaised] = useState<RefusedByLimit | null>(null);
  const state = refusedNow(apiKey, listed ?? [], useNow());
  return (
    <>
      {!isPending && state && <StateNotice {...{ apiKey, state }} onRaise={setRaised} />}
      {raised && <RaiseLimitDialog apiKey={apiKey} refused={raised} onClose={() => setRaised(null)} />}
    </>
  );
}

interface StateNoticeProps {
  readonly apiKey: ApiKey;
  readonly state: RefusedNow;
  readonly onRaise: (refused: RefusedByLimit) => void;
}

function StateNotice({ apiKey, state, onRaise }: StateNoticeProps) {
  const { refusals } = apiKey;
  return (
    <Notice tone={state.kind === 'limit' ? 'bad' : 'warning'}>
      <div className={styles.refused}>
        {refusals && (
          <p className={styles.refusedTitle}>
            {formatCountOf(refusals.last_day, 'call')} refused since <Time at={refusals.since} />
          </p>
        )}
        {state.kind === 'limit' ? (
          <LimitCause {...{ apiKey, state, onRaise }} />
        ) : (
          <>
            <p>
              Newest reason: {REASONS[state.reason].name}
              {state.message !== null && (
                <>
                  , “<bdi>{state.message}</bdi>”
                </>
              )}
            </p>
            <p>{REASONS[state.reason].advice}</p>
          </>
        )}
      </div>
    </Notice>
  );
}

interface LimitCauseProps extends Pick<StateNoticeProps, 'apiKey' | 'onRaise'> {
  readonly state: Extract<RefusedNow, { kind: 'limit' }>;
}

function LimitCause({ apiKey, state, onRaise }: LimitCauseProps) {
  const can = useCan();
  const canChange = useCanChangeKey(apiKey);
  const { limit, needed, affordable, isReserved } = state;
  const { resets_at: resetsAt } = limit;
  return (
    <>
      <p>
        {affordable !== null && 'Chats without a token limit are refused: they reserve the longest answer. '}
        {needed !== null && (
          <>
            A call may cost <Money usd={needed} />.{' '}
          </>
        )}
        {nameOfLimit(limit)}: <Money usd={limit.remaining_usd} /> of <Money usd={limit.limit_usd} /> left
        {isReserved && ', which calls in flight reserve'}.{' '}
        {resetsAt === null ? (
          'It never resets.'
        ) : (
          <>
            It resets <Time at={resetsAt} isRelative />.
          </>
        )}
      </p>
      <p>
        {affordable === null
          ? REASONS[reasonOf(limit)].advice
          : `A chat with max_tokens of ${formatCount(suggestedTokens(affordable))} or less is accepted.`}
      </p>
      <div className={styles.remedies}>
        {affordable !== null && (
          <CopyButton text={String(suggestedTokens(affordable))} what="token limit" hasLabel />
        )}
        {limit.limit_source === 'key' ? (
          canChange && <Button onClick={() => onRaise(state)}>Raise the limit</Button>
        ) : limit.limit_source === 'workspace' ? (
          <Link to="/workspaces/$id" params={{ id: apiKey.workspace_id }} className={buttonClass()}>
            {can('budgets.change', apiKey.workspace_id) ? 'Change the budget' : 'See the budget'}
          </Link>
        ) : (
          <Link to={limit.limit_source === 'account' ? '/' : '/guardrails'} className={buttonClass()}>
            {limit.limit_source === 'account' ? 'See the credits' : 'See the guardrails'}
          </Link>
        )}
      </div>
    </>
  );
}

/** Nothing for a key that no list names. */
export function NewestRefusals({ apiKey: { hash, refusals } }: { readonly apiKey: ApiKey }) {
  const { data, error, refetch } = useQuery(refusalsQuery({ api_key_hash: hash }));
  if (refusals === null && (data === undefined || data.length === 0)) return null;
  return (
    <Section
      title="Newest refused calls"
      description="Of the newest 100 of the account, those of this key."
      isFlush
    >
      {error && data === undefined ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <RefusalTable
          refusals={data}
          hasKey={false}
          empty={<p className={styles.unlisted}>Other keys of the account were refused after this one.</p>}
        />
      )}
    </Section>
  );
}
