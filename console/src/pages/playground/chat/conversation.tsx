// The turns of the conversation, and the answer that is coming.
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ApiError } from '../../../api/client';
import { messageOf } from '../../../api/problems';
import { Button, buttonClass } from '../../../components/actions/button';
import { Badge } from '../../../components/display/badge';
import { Code } from '../../../components/display/values';
import { EmptyState, Notice, Waiting } from '../../../components/feedback/states';
import { Image } from '../../../components/message/image';
import { Message, MessageText, Reasoning } from '../../../components/message/message';
import { ToolCalls } from '../../../components/message/tool-calls';
import { formatCount } from '../../../format';
import { endInWords } from '../../generations/call-route';
import { suggestedTokens } from '../../refusals/refused-now';
import { AnswerFigures } from './answer-figures';
import type { AnswerTurn, ToolResult, Turn } from './wires/turns';
import type { ChatAnswer } from './wires/chat-answer';
import styles from './chat.module.css';

/** The answer that is coming. It is shown as the turn that it becomes, so that it keeps its place, and what is unfolded. */
interface LiveTurn extends Omit<AnswerTurn, 'outcome' | 'wire'> {
  readonly outcome: 'coming';
}

type ShownTurn = Turn | LiveTurn;
type ShownAnswer = AnswerTurn | LiveTurn;

// Within so many pixels of its end the conversation follows the answer.
const NEAR_END = 60;

interface ConversationProps {
  readonly label: string;
  readonly turns: readonly Turn[];
  readonly live: ChatAnswer | null;
  readonly onRetry: () => void;
  /** The key that pays; undefined: that of the session. */
  readonly payerHash: string | undefined;
  readonly onTokenLimit: (tokens: number) => void;
}

export function Conversation({ label, turns, live, onRetry, ...remedies }: ConversationProps) {
  const shown: readonly ShownTurn[] =
    live === null ? turns : [...turns, { kind: 'answer', answer: live, outcome: 'coming', error: null }];
  const scroller = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const turnCount = useRef(shown.length);
  useEffect(() => {
    const { current } = scroller;
    // A new message is always shown.
    if (turnCount.current !== shown.length) isFollowing.current = true;
    turnCount.current = shown.length;
    if (current && isFollowing.current) current.scrollTop = current.scrollHeight;
  });
  if (shown.length === 0)
    return (
      <EmptyState title="No message yet">Write one below. The answer shows here as it comes.</EmptyState>
    );
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      // Focusable, so that the keyboard can scroll it.
      tabIndex={0}
      role="log"
      aria-label={label}
      aria-busy={live !== null}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {shown.map((turn, index) => (
        // Turns have no id; their order never changes.
        <TurnView
          key={index}
          turn={turn}
          next={shown[index + 1]}
          onRetry={index === shown.length - 1 ? onRetry : undefined}
          {...remedies}
        />
      ))}
    </div>
  );
}

interface TurnViewProps extends Remedies {
  readonly turn: ShownTurn;
  readonly next: ShownTurn | undefined;
  /** Only the last turn can be retried. */
  readonly onRetry: (() => void) | undefined;
}

type Remedies = Pick<ConversationProps, 'payerHash' | 'onTokenLimit'>;

function TurnView({ turn, next, onRetry, ...remedies }: TurnViewProps) {
  switch (turn.kind) {
    case 'user':
      return (
        <Message who="You" isOwn>
          {turn.text !== '' && <MessageText text={turn.text} />}
          {turn.images.map(({ name, url }) => (
            <Image key={url} url={url} description={name} />
          ))}
        </Message>
      );
    case 'tools':
      // Results are shown beside their calls.
      return null;
    case 'answer':
      return (
        <AnswerView
          turn={turn}
          results={next?.kind === 'tools' ? next.results : []}
          onRetry={onRetry}
          {...remedies}
        />
      );
  }
}

interface AnswerViewProps extends Remedies {
  readonly turn: ShownAnswer;
  readonly results: readonly ToolResult[];
  readonly onRetry: (() => void) | undefined;
}

function AnswerView({ turn, results, onRetry, ...remedies }: AnswerViewProps) {
  const { answer, outcome } = turn;
  return (
    <Message who={answer.model ?? 'Assistant'} badge={<OutcomeBadge turn={turn} />}>
      <AnswerText answer={answer} results={results} />
      {outcome === 'coming' && answer.firstContent === null && <Waiting>Waiting for the first token</Waiting>}
      {(outcome === 'finished' || outcome === 'stopped') &&
        answer.text === '' &&
        answer.toolCalls.length === 0 && <p className={styles.muted}>The answer has no text.</p>}
      {outcome === 'failed' && <Failure turn={turn} onRetry={onRetry} {...remedies} />}
      {outcome !== 'coming' && <AnswerFigures answer={answer} outcome={outcome} />}
    </Message>
  );
}

/** An answer that comes, or that simply ended, needs no remark. */
function OutcomeBadge({ turn: { answer, outcome } }: { readonly turn: ShownAnswer }) {
  const { finishReason: reason } = answer;
  if (outcome === 'stopped') return <Badge tone="warning">Stopped</Badge>;
  if (outcome === 'failed') return <Badge tone="bad">Failed</Badge>;
  if (outcome === 'coming' || reason === null || reason === 'stop') return null;
  return <Badge tone="neutral">{endInWords(reason, null)}</Badge>;
}

/** Messages of providers end as they like. */
const endSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function Failure({
  turn: { answer, error },
  onRetry,
  payerHash,
  onTokenLimit,
}: Omit<AnswerViewProps, 'results'>) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  const { affordable_output_tokens: affordable, limit_source: source } =
    error instanceof ApiError ? error.metadata : {};
  const tokens = typeof affordable === 'number' && affordable > 0 ? suggestedTokens(affordable) : null;
  return (
    <Notice tone="bad">
      {endSentence(answer.failure ?? messageOf(error))}
      {requestId !== null && (
        <>
          {' '}
          Request id <Code text={requestId} what="request id" />
        </>
      )}
      {onRetry && (
        <span className={styles.retry}>
          {tokens !== null && (
            <Button onClick={() => onTokenLimit(tokens)}>Set Tokens at most to {formatCount(tokens)}</Button>
          )}
          {source === 'key' && payerHash !== undefined && (
            <Link to="/keys/$hash" params={{ hash: payerHash }} className={buttonClass()}>
              Raise the limit
            </Link>
          )}
          <Button icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        </span>
      )}
    </Notice>
  );
}

interface AnswerTextProps extends Pick<AnswerViewProps, 'results'> {
  readonly answer: ChatAnswer;
}

function AnswerText({ answer: { text, reasoning, toolCalls }, results }: AnswerTextProps) {
  return (
    <>
      {reasoning !== '' && <Reasoning text={reasoning} />}
      {text !== '' && <MessageText text={text} />}
      <ToolCalls
        calls={toolCalls.map((call) => ({
          ...call,
          result: results.find(({ callId }) => callId === call.id)?.text,
        }))}
      />
    </>
  );
}
