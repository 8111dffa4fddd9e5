// The turns of the conversation, and the answer that is coming.
import { useEffect, useRef } from 'react';
import type { ChatAnswer } from '../../../api/chat-answer';
import { ApiError } from '../../../api/client';
import { messageOf } from '../../../api/problems';
import { Button } from '../../../components/actions/button';
import { ToolCalls } from '../../../components/data/tool-calls';
import { Badge } from '../../../components/display/badge';
import { Message, MessageText, Reasoning } from '../../../components/display/message';
import { Code } from '../../../components/display/values';
import { EmptyState, Notice, Waiting } from '../../../components/feedback/states';
import type { AnswerTurn, Turn } from './turns';
import styles from './chat.module.css';

// Within so many pixels of its end the conversation follows the answer.
const NEAR_END = 60;

interface ConversationProps {
  readonly turns: readonly Turn[];
  readonly live: ChatAnswer | null;
  readonly onRetry: () => void;
}

export function Conversation({ turns, live, onRetry }: ConversationProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const turnCount = useRef(turns.length);
  useEffect(() => {
    const { current } = scroller;
    // A new message is always shown.
    if (turnCount.current !== turns.length) isFollowing.current = true;
    turnCount.current = turns.length;
    if (current && isFollowing.current) current.scrollTop = current.scrollHeight;
  });
  if (turns.length === 0 && live === null)
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
      aria-label="Conversation"
      aria-busy={live !== null}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {turns.map((turn, index) => (
        // Turns have no id; their order never changes.
        <TurnView key={index} turn={turn} onRetry={index === turns.length - 1 ? onRetry : undefined} />
      ))}
      {live !== null && (
        <Message who={live.model ?? 'Assistant'}>
          <AnswerText answer={live} />
          {live.firstContent === null && <Waiting>Waiting for the first token</Waiting>}
        </Message>
      )}
    </div>
  );
}

interface TurnViewProps {
  readonly turn: Turn;
  /** Only the last turn can be retried. */
  readonly onRetry: (() => void) | undefined;
}

function TurnView({ turn, onRetry }: TurnViewProps) {
  if (turn.kind === 'user') {
    return (
      <Message who="You" isOwn>
        <MessageText text={turn.text} />
      </Message>
    );
  }
  if (turn.kind === 'tools') {
    return (
      <Message who="Results of tools" isOwn>
        {turn.results.map(({ callId, name, text }) => (
          <div key={callId} className={styles.call}>
            <Code text={name} />
            <pre className={styles.json} dir="auto">
              {text}
            </pre>
          </div>
        ))}
      </Message>
    );
  }
  return <AnswerView turn={turn} onRetry={onRetry} />;
}

function AnswerView({ turn, onRetry }: TurnViewProps & { readonly turn: AnswerTurn }) {
  const { answer, outcome } = turn;
  return (
    <Message
      who={answer.model ?? 'Assistant'}
      badge={
        outcome === 'stopped' ? (
          <Badge tone="warning">Stopped</Badge>
        ) : outcome === 'failed' ? (
          <Badge tone="bad">Failed</Badge>
        ) : (
          <FinishBadge reason={answer.finishReason} />
        )
      }
    >
      <AnswerText answer={answer} />
      {outcome !== 'failed' && answer.text === '' && answer.toolCalls.length === 0 && (
        <p className={styles.muted}>The answer has no text.</p>
      )}
      {outcome === 'failed' && <Failure turn={turn} onRetry={onRetry} />}
    </Message>
  );
}

/** An answer that simply ended needs no remark. */
function FinishBadge({ reason }: { readonly reason: string | null }) {
  return reason === null || reason === 'stop' ? null : <Badge tone="neutral">{reason}</Badge>;
}

function Failure({ turn: { answer, error }, onRetry }: TurnViewProps & { readonly turn: AnswerTurn }) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <Notice tone="bad">
      {answer.failure ?? messageOf(error)}
      {requestId !== null && (
        <>
          {' '}
          Request id <Code text={requestId} what="request id" />
        </>
      )}
      {onRetry && (
        <span className={styles.retry}>
          <Button icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        </span>
      )}
    </Notice>
  );
}

function AnswerText({ answer: { text, reasoning, toolCalls } }: { readonly answer: ChatAnswer }) {
  return (
    <>
      {reasoning !== '' && <Reasoning text={reasoning} />}
      {text !== '' && <MessageText text={text} />}
      <ToolCalls calls={toolCalls} />
    </>
  );
}
