// A chat call after its provider: waits for the end of an answer that has begun, and states it with its error.
import { Injectable } from '@nestjs/common';
import { AppError } from '../../domain/errors.js';
import { endingOf, ruleOf } from '../../domain/ending.js';
import type { Ending } from '../../domain/ending.js';
import type { ChatRoute } from '../../routing/chat/chat-planner.js';
import type { RoutedChat } from '../../routing/chat/chat-router.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { NO_RETRY, toCallerError } from '../../routing/failures/caller-error.js';
import { ChatMetrics } from '../chat-metrics.js';
import { brokenAnswer, messageOf } from '../stream/chat-failure.js';
import type { ChatFailure } from '../stream/chat-failure.js';
import { failureOfAnswer } from './answer-failures.js';
import type { Begun } from './begun-chat.js';
import { NO_ANSWER, receivedBy } from './call-usage.js';
import type { ReceivedAnswer } from './call-usage.js';
import { ChatExchange } from './chat-exchange.js';
import type { ChatState } from './chat-state.js';
import { errorOfStop } from './open-chats.js';

export interface EndedAnswer {
  readonly ending: Ending;
  readonly received: ReceivedAnswer;
  /** Null: the answer is complete, or its client has left. */
  readonly error: AppError | null;
}

export interface ExecutedChat extends EndedAnswer {
  readonly route: ChatRoute;
  readonly routed: RoutedChat<Begun>;
}

@Injectable()
export class AnswerEnds {
  constructor(
    private readonly exchange: ChatExchange,
    private readonly metrics: ChatMetrics,
  ) {}

  async of(begun: Begun, target: ChatTarget, state: ChatState): Promise<EndedAnswer> {
    if (begun.kind === 'ended') {
      const { ending, received, message } = begun;
      return { ending, received, error: this.errorOf(ending, brokenAnswer(message), target, state) };
    }
    if (begun.kind === 'whole') {
      const { usage, choices, outputCount, serviceTier, upstreamId } = begun.answer;
      const answer = { usage, choices, outputCount, serviceTier, upstreamId };
      const { callerGone: caller } = state;
      const ending = endingOf({ hasContent: true, isComplete: true, caller, stop: null, limit: null });
      const complete = { hasExactPrompt: false, isComplete: true, isOver: true, unreadBytes: 0 };
      return { ending, received: { ...answer, ...complete }, error: null };
    }
    const { relay, pump } = begun;
    const ending = await pump.ended;
    const failure = relay.failure ?? brokenAnswer('the stream failed');
    if (ruleOf(ending).cause === 'provider') this.metrics.streamFailed(failure.kind, 'content');
    return { ending, received: receivedBy(relay), error: this.errorOf(ending, failure, target, state) };
  }

  private errorOf(
    ending: Ending,
    failure: ChatFailure,
    target: ChatTarget,
    state: ChatState,
  ): AppError | null {
    switch (ending) {
      case 'caller_too_slow':
        return state.callerGone === null ? tooSlow() : null;
      case 'caller_deadline':
      case 'own_deadline':
      case 'shutdown':
      case 'shutdown_before_content':
      case 'lapse':
      case 'lapse_before_content':
        return state.stop && errorOfStop(state.stop);
      case 'own_bound':
        return beyondBound(failure, target);
      case 'provider_after_content':
        return toCallerError(failureOfAnswer(failure, this.exchange.namesOf(target)), target);
      default:
        return null;
    }
  }
}

/** For a call that ended before an answer began. */
export function withoutAnswer(state: ChatState, error: AppError | null): EndedAnswer {
  const { callerGone: caller, stop, stopError, ended } = state;
  const limit = ended.at(-1)?.ending === 'own_timeout' ? 'timeout' : null;
  const ending = endingOf({ hasContent: false, isComplete: false, caller, stop, limit });
  return { ending, received: NO_ANSWER, error: stopError ?? error };
}

/** The provider has worked on an answer whose size the request has chosen: a repeat would meet the bound again. */
function beyondBound(failure: ChatFailure, { provider }: ChatTarget): AppError {
  return new AppError('provider_error', {
    detail: messageOf(failure),
    metadata: { provider_name: provider.name },
    headers: NO_RETRY,
    payer: 'caller',
  });
}

function tooSlow(): AppError {
  return new AppError('operation_timeout', {
    detail: 'the provider ended the stream while it waited for its reader',
    headers: NO_RETRY,
  });
}
