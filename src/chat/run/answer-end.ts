// Waits for the end of an answer that has begun, however it comes.
import { Injectable } from '@nestjs/common';
import { AppError } from '../../domain/errors.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { toCallerError } from '../../routing/failures/caller-error.js';
import { ChatMetrics } from '../chat-metrics.js';
import type { PumpEnd } from '../stream/chat-pump.js';
import { failureOfAnswer } from './answer-failures.js';
import { NO_ANSWER } from './chat-ending.js';
import type { EndingKind, ReceivedAnswer } from './chat-ending.js';
import { ChatExchange } from './chat-exchange.js';
import type { Begun, BegunStream } from './chat-exchange.js';

export interface EndedAnswer {
  readonly kind: EndingKind;
  readonly received: ReceivedAnswer;
  /** Null: the answer is complete, or its client has left. */
  readonly error: AppError | null;
}

export interface AnswerBounds {
  readonly target: ChatTarget;
  /** performance.now() */
  readonly deadline: number;
  /** Calls `listener` when this service ends the call. Returns the way to stop that. */
  onStop(listener: (error: AppError) => void): () => void;
  /** The ending of an answer whose upstream was cancelled: its client left, or this service has ended the call. */
  cutKind(target: ChatTarget): EndingKind;
  /** The client has left, and the answer is read for its usage. */
  isGone(): boolean;
}

interface Abortion {
  readonly error: AppError;
  readonly kind: EndingKind;
}

@Injectable()
export class AnswerEnds {
  constructor(
    private readonly exchange: ChatExchange,
    private readonly metrics: ChatMetrics,
  ) {}

  async of(begun: Begun, bounds: AnswerBounds): Promise<EndedAnswer> {
    const { target } = bounds;
    if (begun.kind === 'whole') {
      const { answer } = begun;
      return answer === null
        ? { kind: bounds.cutKind(target), received: NO_ANSWER, error: null }
        : { kind: 'complete', received: answer, error: null };
    }
    const { end, abortion } = await this.endOf(begun, bounds);
    const received = receivedBy(begun);
    switch (end) {
      case 'finished':
        return { kind: 'complete', received, error: null };
      case 'cancelled':
        return { kind: bounds.cutKind(target), received, error: null };
      case 'aborted':
        // The provider bills on: a bound of this service makes no call free that its client has left.
        if (bounds.isGone()) return { kind: 'unknown', received, error: null };
        return { kind: abortion?.kind ?? 'failed', received, error: abortion?.error ?? null };
      case 'failed':
        if (begun.relay.isTooLarge && bounds.isGone()) return { kind: 'unknown', received, error: null };
        return { kind: 'failed', received, error: this.failureOf(begun, target) };
    }
  }

  /** The deadline of the call and its end by this service end the stream as well. */
  private async endOf(
    { pump }: BegunStream,
    bounds: AnswerBounds,
  ): Promise<{ readonly end: PumpEnd; readonly abortion: Abortion | null }> {
    let abortion: Abortion | null = null;
    const abort = (error: AppError, kind: EndingKind): void => {
      abortion ??= { error, kind };
      pump?.abort({ kind: 'timeout', message: error.message });
    };
    const timer = setTimeout(
      () => abort(new AppError('operation_timeout'), 'failed'),
      Math.max(1, bounds.deadline - performance.now()),
    );
    const leave = bounds.onStop((error) => abort(error, bounds.cutKind(bounds.target)));
    const end = pump === null ? 'cancelled' : await pump.ended;
    clearTimeout(timer);
    leave();
    return { end, abortion };
  }

  private failureOf({ relay }: BegunStream, target: ChatTarget): AppError {
    const failure = relay.failure ?? { kind: 'broken_answer', message: 'the stream failed' };
    this.metrics.streamFailed(failure.kind, 'content');
    return toCallerError(failureOfAnswer(failure, this.exchange.namesOf(target)), target);
  }
}

function receivedBy({ relay }: BegunStream): ReceivedAnswer {
  return {
    choices: relay.choices(),
    usage: relay.usage,
    outputCount: relay.outputCount(),
    serviceTier: relay.serviceTier,
    upstreamId: relay.upstreamId,
  };
}
