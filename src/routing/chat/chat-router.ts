// Tries the endpoints of a chat call one after the other, until one begins an answer (docs/contract.md#chat-routing).
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { toAbortSignal } from '../../concurrency/cancellation.js';
import type { Permit } from '../../concurrency/semaphore.js';
import { AppConfig } from '../../config/app-config.js';
import { Tracing } from '../../config/tracing.js';
import type { PassedOverKey } from '../../domain/embeddings/passed-over-key.js';
import { AppError, toAppError } from '../../domain/errors.js';
import { CallCredentials } from '../credentials/call-credentials.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import { passedOverKeys } from '../credentials/passed-over-keys.js';
import { EndpointAttempts } from '../endpoints/endpoint-attempts.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import type { ChatTarget } from '../endpoints/endpoint-target.js';
import { NO_RETRY } from '../failures/caller-error.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import { MAX_RETRY_DELAY, outranks, RetryPolicy } from '../retry-policy.js';
import type { AttemptingCall } from '../routed-call.js';
import type { ChatRoute } from './chat-planner.js';

/** The beginning of an answer: from here on no other endpoint is tried. */
export interface BegunAnswer {
  /** Of the provider's response; null without one. */
  readonly status: number | null;
  /** The client left, or the process ended, before any content came, and the attempt was ended. */
  readonly isCancelled: boolean;
}

/** One attempt, while its answer has not begun. */
export interface BeginningAttempt {
  /** Members of the request that the endpoint does not take. */
  droppedMembers: readonly string[];
  /** Of the headers of the provider's response; null: none. */
  upstreamId: string | null;
  /** Own provider keys that the operator's credential replaces if this attempt serves. */
  passedOver(): readonly PassedOverKey[];
}

/** Sends one request. Throws EndpointFailure while another endpoint may still be tried. */
export type BeginAnswer<Answer extends BegunAnswer> = (
  target: ChatTarget,
  attempt: BeginningAttempt,
) => Promise<Answer>;

export interface BegunChat<Answer> {
  readonly target: ChatTarget;
  readonly answer: Answer;
  readonly droppedMembers: readonly string[];
  /** Of the headers of the provider's response; null: none. */
  readonly upstreamId: string | null;
  /** performance.now() of the attempt. */
  readonly startedAt: number;
  /** From the attempt's start to the beginning of its answer. */
  readonly firstContentMs: number;
  readonly permit: Permit;
}

export interface RoutedChat<Answer> {
  /** Null: no endpoint has begun an answer. */
  readonly begun: BegunChat<Answer> | null;
  readonly passedOver: readonly PassedOverKey[];
  /** Null for a call that has begun, or whose client left. */
  readonly error: AppError | null;
}

interface ChatCall<Answer extends BegunAnswer> {
  readonly call: AttemptingCall;
  readonly route: ChatRoute;
  readonly begin: BeginAnswer<Answer>;
  readonly credentials: CallCredentials;
  hasRetried: boolean;
}

interface LastFailure {
  readonly error: AppError;
  readonly rank: number;
}

// About the request and this model: another model may take it.
const OF_MODEL = /^(content_filter|content_policy_violation|unsupported_(parameter|value))$/i;
// The request was not written.
const NOT_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;

@Injectable()
export class ChatRouter {
  constructor(
    private readonly attempts: EndpointAttempts,
    private readonly health: EndpointHealthRegistry,
    private readonly circuits: CredentialCircuits,
    private readonly retries: RetryPolicy,
    private readonly config: AppConfig,
    private readonly tracing: Tracing,
  ) {}

  /** Never throws: every call is a generation, however it ends. */
  async run<Answer extends BegunAnswer>(
    route: ChatRoute,
    call: AttemptingCall,
    begin: BeginAnswer<Answer>,
  ): Promise<RoutedChat<Answer>> {
    const credentials = new CallCredentials(this.circuits, route.accountId);
    const chat = { call, route, begin, credentials, hasRetried: false };
    let begun: BegunChat<Answer> | null = null;
    let error: AppError | null = null;
    try {
      begun = await this.tryAll(chat);
    } catch (failure) {
      error = call.ending.aborted ? null : toAppError(failure);
      // Retries of clients would multiply those of this service.
      if (chat.hasRetried && error) error = error.withHeaders(NO_RETRY);
    }
    const served = begun ? [begun] : [];
    return { begun, error, passedOver: passedOverKeys({ targets: route.targets, served, credentials }) };
  }

  /** The end of an answer that has begun: releases its permit. `tokens` null: it failed. */
  ended(
    { target, answer, startedAt, firstContentMs, permit }: BegunChat<BegunAnswer>,
    { attempts }: Pick<AttemptingCall, 'attempts'>,
    tokens: number | null,
  ): void {
    permit.release();
    const now = performance.now();
    const last = attempts.at(-1);
    if (last) attempts[attempts.length - 1] = { ...last, durationMs: Math.round(now - startedAt) };
    // It says nothing about the endpoint.
    if (answer.isCancelled) return;
    if (tokens === null) this.health.of(target).recordFailure(now);
    else this.health.of(target).recordSuccess(now, firstContentMs, tokens, now - startedAt);
  }

  private async tryAll<Answer extends BegunAnswer>(chat: ChatCall<Answer>): Promise<BegunChat<Answer>> {
    const { call, route, credentials } = chat;
    const targets = [...route.targets];
    let last: LastFailure | null = null;
    for (let index = 0; index < targets.length; index++) {
      const target = targets[index];
      if (!target) break;
      const isLast = index + 1 >= targets.length;
      call.ending.throwIfAborted();
      if (!credentials.mayAsk(target)) {
        if (isLast) throw last?.error ?? credentials.passedOverError(target);
        continue;
      }
      try {
        return await this.tryOne(target, chat, isLast, isLast || index >= route.targets.length);
      } catch (failure) {
        if (!(failure instanceof EndpointFailure) || call.ending.aborted) throw failure;
        if (performance.now() >= call.deadline) throw new AppError('operation_timeout', { cause: failure });
        const worst = this.worst(last, failure, target, credentials);
        const next = nextIndex(failure, targets, index);
        if (isLast || next === null) throw worst.error;
        if (failure.wasSent) chat.hasRetried = true;
        // An endpoint without a free permit is able to serve: it is waited for when no other one serves.
        if (failure.failureClass === 'saturated') targets.push(target);
        else last = worst;
        index = next - 1;
      }
    }
    throw last?.error ?? new AppError('unavailable', { detail: 'no endpoint is left' });
  }

  private worst(
    last: LastFailure | null,
    failure: EndpointFailure,
    target: ChatTarget,
    credentials: CallCredentials,
  ): LastFailure {
    const { consequences } = failure;
    if (last !== null && outranks(last, consequences)) return last;
    return { error: credentials.errorOf(failure, target), rank: consequences.rank };
  }

  /** Repeats a passing failure, but only at the last endpoint, and never a request that may be answered twice. */
  private async tryOne<Answer extends BegunAnswer>(
    target: ChatTarget,
    chat: ChatCall<Answer>,
    isLast: boolean,
    mayWait: boolean,
  ): Promise<BegunChat<Answer>> {
    const { call } = chat;
    for (let repeats = 0; ; repeats++) {
      try {
        return await this.attempt(target, chat, mayWait);
      } catch (failure) {
        const mayRepeat = isLast && !call.ending.aborted && failure instanceof EndpointFailure;
        if (!mayRepeat || !isRepeatable(failure) || !this.retries.mayRepeat(failure, repeats)) throw failure;
        const pause = this.retries.delayOf(failure, repeats);
        if (pause > MAX_RETRY_DELAY || performance.now() + pause >= call.deadline) throw failure;
        chat.hasRetried = true;
        await delay(pause, undefined, { signal: toAbortSignal(call.ending) }).catch(() => {
          throw failure;
        });
      }
    }
  }

  private async attempt<Answer extends BegunAnswer>(
    target: ChatTarget,
    { call, begin, credentials, route: { targets } }: ChatCall<Answer>,
    mayWait: boolean,
  ): Promise<BegunChat<Answer>> {
    const limit = this.config.chat.endpointConcurrency;
    const permit = await this.attempts.acquirePermit(target, call, limit, mayWait);
    const startedAt = performance.now();
    const attempt: BeginningAttempt = {
      droppedMembers: [],
      upstreamId: null,
      passedOver: () => passedOverKeys({ targets, served: [{ target }], credentials }),
    };
    const facts = () => ({
      model: target.model.id,
      isByok: target.credential !== null,
      ...(attempt.droppedMembers.length > 0 && { droppedMembers: attempt.droppedMembers }),
    });
    try {
      call.ending.throwIfAborted();
      const answer = await this.tracing.span('chat', { kind: 'client' }, () => begin(target, attempt));
      const firstContentMs = performance.now() - startedAt;
      const { status, isCancelled } = answer;
      const more = { ...facts(), ...(!isCancelled && { firstContentMs: Math.round(firstContentMs) }) };
      this.attempts.note(call, target, startedAt, status, isCancelled ? 'cancelled' : null, more);
      credentials.served(target);
      const { droppedMembers, upstreamId } = attempt;
      return { target, answer, droppedMembers, upstreamId, startedAt, firstContentMs, permit };
    } catch (failure) {
      permit.release();
      if (failure instanceof EndpointFailure) {
        const { status, failureClass, consequences } = failure;
        const health = this.health.of(target);
        const now = performance.now();
        this.attempts.note(call, target, startedAt, status, failureClass, {
          ...facts(),
          ...(attempt.upstreamId !== null && { upstreamId: attempt.upstreamId }),
        });
        credentials.noteFailure(failure, target);
        if (consequences.circuit !== 'none') health.lastFailure = { at: now, failureClass, status };
        if (consequences.circuit === 'endpoint') health.recordFailure(now);
      }
      throw failure;
    }
  }
}

/** The index of the target to try after a failure; null: none may help. */
function nextIndex(failure: EndpointFailure, targets: readonly ChatTarget[], index: number): number | null {
  if (failure.consequences.next) return index + 1;
  if (!OF_MODEL.test(failure.providerCode ?? '')) return null;
  const model = targets[index]?.model;
  const other = targets.findIndex((target, at) => at > index && target.model !== model);
  return other === -1 ? null : other;
}

/** A connection that failed after the request was written may be billed: a repeat would be billed again. */
function isRepeatable({ failureClass, status, message }: EndpointFailure): boolean {
  if (failureClass === 'rate_limited' || failureClass === 'overloaded') return true;
  return failureClass === 'failed' && status === null && NOT_SENT.test(message);
}
