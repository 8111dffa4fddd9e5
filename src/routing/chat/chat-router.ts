// Tries the endpoints of a chat call one after the other, until one begins an answer (docs/contract.md#chat-routing).
import { Injectable } from '@nestjs/common';
import type { Permit } from '../../concurrency/semaphore.js';
import { AppConfig } from '../../config/app-config.js';
import { Tracing } from '../../config/tracing/tracing.js';
import type { PassedOverKey } from '../../domain/providers/routing-metadata.js';
import { ruleOf } from '../../domain/ending.js';
import type { Ending } from '../../domain/ending.js';
import { AppError, toAppError } from '../../domain/errors.js';
import { CallCredentials } from '../credentials/call-credentials.js';
import { CredentialCircuits } from '../credentials/credential-circuits.js';
import { passedOverKeys } from '../credentials/passed-over-keys.js';
import { EndpointAttempts } from '../fallback/endpoint-attempts.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import type { ChatTarget } from '../endpoint-target.js';
import { NO_RETRY } from '../failures/caller-error.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import { EndpointFallback } from '../fallback/endpoint-fallback.js';
import { RemainingEndpoints } from '../fallback/remaining-endpoints.js';
import { MAX_RETRY_DELAY } from '../fallback/retry-policy.js';
import type { AttemptingCall, FallbackCall } from '../routed-call.js';
import type { ChatRoute } from './chat-planner.js';

/** The beginning of an answer: from here on no other endpoint is tried. */
export interface BegunAnswer {
  /** The status of the provider's response; null without one. */
  readonly status: number | null;
  /** The attempt ended before any content, and the call with it; null: the answer comes. */
  readonly ending: Ending | null;
}

/** One attempt, while its answer has not begun. */
export interface BeginningAttempt {
  readonly target: ChatTarget;
  /** Members of the request that the endpoint does not take. */
  droppedMembers: readonly string[];
  /** The id in the headers of the provider's response; null: none. */
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
  /** The id in the headers of the provider's response; null: none. */
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

interface ChatCall<Answer extends BegunAnswer> extends FallbackCall {
  readonly call: AttemptingCall;
  readonly route: ChatRoute;
  readonly begin: BeginAnswer<Answer>;
}

// The request was not written.
const NOT_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;

@Injectable()
export class ChatRouter {
  constructor(
    private readonly attempts: EndpointAttempts,
    private readonly fallback: EndpointFallback,
    private readonly health: EndpointHealthRegistry,
    private readonly circuits: CredentialCircuits,
    private readonly config: AppConfig,
    private readonly tracing: Tracing,
  ) {}

  /** Never throws: every call is a generation, however it ends. */
  async run<Answer extends BegunAnswer>(
    route: ChatRoute,
    call: AttemptingCall,
    begin: BeginAnswer<Answer>,
  ): Promise<RoutedChat<Answer>> {
    const { deadline, ending } = call;
    const credentials = new CallCredentials(this.circuits, route.accountId);
    const retries = { hasRetried: false, maxRetryDelay: MAX_RETRY_DELAY, isRepeatable };
    const chat = { call, route, begin, deadline, ending, credentials, ...retries };
    let begun: BegunChat<Answer> | null = null;
    let error: AppError | null = null;
    try {
      begun = await this.tryAll(chat);
    } catch (failure) {
      error = ending.aborted ? null : toAppError(failure);
      // Retries of clients would multiply those of this service.
      if (chat.hasRetried && error) error = error.withHeaders(NO_RETRY);
    }
    const served = begun ? [begun] : [];
    return { begun, error, passedOver: passedOverKeys({ targets: route.targets, served, credentials }) };
  }

  /** The end of an answer that has begun: releases its permit. `tokens`: those of its completion. */
  ended(
    { target, startedAt, firstContentMs, permit }: BegunChat<BegunAnswer>,
    { attempts }: Pick<AttemptingCall, 'attempts'>,
    ending: Ending,
    tokens: number,
  ): void {
    permit.release();
    const now = performance.now();
    const last = attempts.at(-1);
    const errorType = ending === 'completed' ? null : ending;
    if (last) attempts[attempts.length - 1] = { ...last, errorType, durationMs: Math.round(now - startedAt) };
    const { health } = ruleOf(ending);
    if (health === 'failure') this.health.of(target).recordFailure(now);
    else if (health === 'success')
      this.health.of(target).recordSuccess(now, firstContentMs, tokens, now - startedAt);
  }

  private async tryAll<Answer extends BegunAnswer>(chat: ChatCall<Answer>): Promise<BegunChat<Answer>> {
    for (let remaining = RemainingEndpoints.of(chat.route.targets); ;) {
      const { target, mayWait } = remaining;
      const step = await this.fallback.step(remaining, chat, () => this.attempt(target, chat, mayWait));
      if ('answer' in step) return step.answer;
      ({ remaining } = step);
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
      target,
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
      const { status, ending } = answer;
      this.attempts.note(call, target, {
        startedAt,
        status,
        errorType: ending,
        facts: { ...facts(), ...(ending === null && { firstContentMs: Math.round(firstContentMs) }) },
      });
      credentials.served(target);
      const { droppedMembers, upstreamId } = attempt;
      return { target, answer, droppedMembers, upstreamId, startedAt, firstContentMs, permit };
    } catch (failure) {
      permit.release();
      if (failure instanceof EndpointFailure) {
        const { status, failureClass: errorType } = failure;
        const { upstreamId } = attempt;
        const ids = upstreamId === null ? {} : { upstreamId };
        this.attempts.note(call, target, { startedAt, status, errorType, facts: { ...facts(), ...ids } });
        this.attempts.countFailure(failure, target, credentials);
      }
      throw failure;
    }
  }
}

/** A connection that failed after the request was written may be billed: a repeat would be billed again. */
function isRepeatable({ failureClass, status, message }: EndpointFailure): boolean {
  if (failureClass === 'rate_limited' || failureClass === 'overloaded') return true;
  return failureClass === 'failed' && status === null && NOT_SENT.test(message);
}
