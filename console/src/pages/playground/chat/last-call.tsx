// Usage and cost of the last call of the conversation.
import { useQuery } from '@tanstack/react-query';
import { ApiError } from '../../../api/client';
import type { ChatAnswer, ChatUsage } from '../../../api/chat-answer';
import { generationQuery } from '../../../api/generations';
import { DescriptionList } from '../../../components/display/section';
import { Absent, Money, Name } from '../../../components/display/values';
import { EmptyState, ErrorState, Notice, Waiting } from '../../../components/feedback/states';
import { formatCount, formatDuration } from '../../../format';
import { usageOrigin } from '../../generations/usage-origin';
import { CallCost, recordItem } from '../call-figures';
import type { AnswerTurn } from './turns';
import styles from './chat.module.css';

export function LastCall({ turn }: { readonly turn: AnswerTurn | undefined }) {
  if (turn === undefined)
    return <EmptyState title="No call yet">Usage, cost, provider and latency show here.</EmptyState>;
  const { answer, outcome } = turn;
  if (outcome === 'stopped') {
    return answer.generationId === null ? (
      <p className={styles.muted}>
        The call was stopped before its answer began. Its record is among the generations once it has ended.
      </p>
    ) : (
      <StoppedCall id={answer.generationId} />
    );
  }
  if (answer.latency === null)
    return <p className={styles.muted}>The call failed before its answer was complete.</p>;
  return <DescriptionList items={figuresOf(answer)} />;
}

function figuresOf(answer: ChatAnswer) {
  const { provider, model, finishReason, firstContent, latency, usage, generationId } = answer;
  return [
    ['Provider', provider ?? <Absent key="provider" />],
    ['Model', model === null ? <Absent key="model" /> : <Name key="model" text={model} />],
    ['First token', durationOf(firstContent)],
    ['Latency', durationOf(latency)],
    ['Prompt tokens', usage === null ? <Absent key="prompt" /> : promptTokens(usage)],
    ['Answer tokens', usage === null ? <Absent key="completion" /> : completionTokens(usage)],
    ['Cost', <CallCost key="cost" usd={usage?.cost} isByok={usage?.is_byok ?? false} />],
    ['Ended with', finishReason ?? <Absent key="finish" />],
    ...recordItem(generationId),
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
    <div className={styles.stopped}>
      <Notice tone="info">
        {isCancelled ? 'Cancelled.' : 'The answer was complete before the stop arrived.'} Charged:{' '}
        <Money usd={data.usage} /> for {formatCount(prompt ?? 0)} prompt and {formatCount(completion ?? 0)}{' '}
        answer tokens
        {data.usage_source !== null && `, ${usageOrigin(data.usage_source)}`}.
      </Notice>
      <DescriptionList
        items={[
          ['Provider', data.provider_name ?? <Absent key="provider" />],
          ['Model', <Name key="model" text={data.model} />],
          ['First token', durationOf(data.time_to_first_token)],
          ['Latency', durationOf(data.latency)],
          ...recordItem(id),
        ]}
      />
    </div>
  );
}
