// Under an answer: what it used, what it cost, and how long it took.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../../../api/client';
import { useSession } from '../../../app/workspace';
import { generationQuery } from '../../../api/generations';
import { Absent, Money } from '../../../components/display/values';
import { ErrorState, Notice, Waiting } from '../../../components/feedback/states';
import { formatCount, formatDuration } from '../../../format';
import { usageOrigin } from '../../generations/usage-origin';
import { CallCost, GenerationRecord } from '../call-figures';
import type { AnswerTurn } from './wires/turns';
import type { AnswerUsage, ChatAnswer } from './wires/chat-answer';
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

function figuresOf({ provider, firstContent, latency, usage, generationId: id }: ChatAnswer) {
  return [
    ['Provider', provider ?? <RecordedProvider key="provider" id={id} />],
    ['First token', durationOf(firstContent)],
    ['Latency', durationOf(latency)],
    ['Prompt tokens', usage === null ? <Absent key="prompt" /> : promptTokens(usage)],
    ['Answer tokens', usage === null ? <Absent key="completion" /> : completionTokens(usage)],
    ['Cost', <CallCost key="cost" usd={usage?.cost} isByok={usage?.isByok ?? false} />],
  ] as const;
}

/** Events of Messages do not name it. */
function RecordedProvider({ id }: { readonly id: string | null }) {
  const isReadable = useSession().kind !== 'inference' && id !== null;
  const { data } = useQuery({ ...generationQuery(id ?? ''), enabled: isReadable });
  return data?.provider_name ?? <Absent />;
}

const durationOf = (milliseconds: number | null) =>
  milliseconds === null ? <Absent /> : formatDuration(milliseconds);

const promptTokens = ({ prompt, cached, written }: AnswerUsage): string =>
  withParts(prompt, [
    [cached, 'cached'],
    [written, 'written to the cache'],
  ]);

const completionTokens = ({ completion, reasoning }: AnswerUsage): string =>
  withParts(completion, [[reasoning, 'reasoning']]);

function withParts(all: number, parts: readonly (readonly [number, string])[]): string {
  const named = parts
    .filter(([tokens]) => tokens > 0)
    .map(([tokens, name]) => `${formatCount(tokens)} ${name}`);
  return named.length === 0 ? formatCount(all) : `${formatCount(all)} (${named.join(', ')})`;
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
