// Under an answer: what it used, what it cost, and how long it took.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../../../api/client';
import type { ChatAnswer, ChatUsage } from '../../../api/chat-answer';
import { generationQuery } from '../../../api/generations';
import { Absent, Money } from '../../../components/display/values';
import { ErrorState, Notice, Waiting } from '../../../components/feedback/states';
import { formatCount, formatDuration } from '../../../format';
import { usageOrigin } from '../../generations/usage-origin';
import { CallCost, GenerationRecord } from '../call-figures';
import type { AnswerTurn } from './turns';
import styles from './chat.module.css';

export function AnswerFigures({ answer, outcome }: Pick<AnswerTurn, 'answer' | 'outcome'>) {
  const { generationId: id } = answer;
  if (outcome === 'stopped') {
    return id === null ? (
      <p className={styles.muted}>
        The call was stopped before its answer began. Its record is among the generations once it has ended.
      </p>
    ) : (
      <StoppedCall id={id} />
    );
  }
  return (
    <>
      {answer.latency !== null && <Figures items={figuresOf(answer)} />}
      {id !== null && <Record id={id} />}
    </>
  );
}

const Record = ({ id }: { readonly id: string }) => (
  <p className={styles.record}>
    <GenerationRecord id={id} />
  </p>
);

function Figures({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.figures}>
      {items.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function figuresOf({ provider, firstContent, latency, usage }: ChatAnswer) {
  return [
    ['Provider', provider ?? <Absent key="provider" />],
    ['First token', durationOf(firstContent)],
    ['Latency', durationOf(latency)],
    ['Prompt tokens', usage === null ? <Absent key="prompt" /> : promptTokens(usage)],
    ['Answer tokens', usage === null ? <Absent key="completion" /> : completionTokens(usage)],
    ['Cost', <CallCost key="cost" usd={usage?.cost} isByok={usage?.is_byok ?? false} />],
  ] as const;
}

const durationOf = (milliseconds: number | null) =>
  milliseconds === null ? <Absent /> : formatDuration(milliseconds);

function promptTokens({ prompt_tokens: all, prompt_tokens_details: { cached_tokens: cached } }: ChatUsage) {
  return `${formatCount(all)}${cached > 0 ? `, ${formatCount(cached)} of them cached` : ''}`;
}

function completionTokens({
  completion_tokens: all,
  completion_tokens_details: { reasoning_tokens: reasoning },
}: ChatUsage) {
  return `${formatCount(all)}${reasoning > 0 ? `, ${formatCount(reasoning)} of them reasoning` : ''}`;
}

// Providers that bill to the end are read to the end, and the record follows.
const LOOK_MS = 500;
const LOOKS = 120;

/** The charge of a stopped call is known from its record alone. */
function StoppedCall({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    ...generationQuery(id),
    retry: (failures, failure) => failure instanceof ApiError && failure.status === 404 && failures < LOOKS,
    retryDelay: LOOK_MS,
  });
  if (data === undefined)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Waiting>Waiting for the record of the stopped call</Waiting>
    );
  const { tokens_prompt: prompt, tokens_completion: completion, cancelled: isCancelled } = data;
  return (
    <>
      <Notice tone="info">
        {isCancelled ? 'Cancelled.' : 'The answer was complete before the stop arrived.'} Charged:{' '}
        <Money usd={data.usage} /> for {formatCount(prompt ?? 0)} prompt and {formatCount(completion ?? 0)}{' '}
        answer tokens
        {data.usage_source !== null && `, ${usageOrigin(data.usage_source)}`}.
      </Notice>
      <Figures
        items={[
          ['Provider', data.provider_name ?? <Absent key="provider" />],
          ['First token', durationOf(data.time_to_first_token)],
          ['Latency', durationOf(data.latency)],
        ]}
      />
      <Record id={id} />
    </>
  );
}
