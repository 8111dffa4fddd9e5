// One request to one endpoint: acquires a permit, sends, and counts the outcome.
import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { Permit } from '../../concurrency/semaphore.js';
import { AppConfig } from '../../config/app-config.js';
import { Tracing } from '../../config/tracing/tracing.js';
import { ENDINGS } from '../../domain/ending.js';
import { recordedEdits } from '../../domain/generations/edits.js';
import type { GenerationAttempt } from '../../domain/generations/generation.js';
import type { Slice } from '../call-splitter.js';
import type { CallCredentials } from '../credentials/call-credentials.js';
import { deadlineError } from '../failures/caller-error.js';
import { EndpointFailure } from '../failures/endpoint-failure.js';
import type { AttemptingCall, Run, ServedSlice, SliceAnswer } from '../routed-call.js';
import { describeAttempt, RoutingMetrics } from '../routing-metrics.js';
import type { EndpointHealth } from '../endpoints/endpoint-health.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { endpointName } from '../endpoint-target.js';
import type { EndpointPermits } from '../endpoints/endpoint-permits.js';
import type { ServingTarget } from '../endpoint-target.js';

export interface AttemptOutcome extends Pick<GenerationAttempt, 'status' | 'errorType'> {
  /** performance.now() */
  readonly startedAt: number;
  /** Members that the call's operation adds. */
  readonly facts?: Partial<GenerationAttempt>;
}

/** Usage of an answer that has not come. */
const UNREPORTED = { promptTokens: null, totalTokens: null } as const;

@Injectable()
export class EndpointAttempts {
  constructor(
    private readonly health: EndpointHealthRegistry,
    private readonly config: AppConfig,
    private readonly metrics: RoutingMetrics,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Throws EndpointFailure. `mayWait`: for a permit, until the call's deadline. A call without a permit sends no request,
   * which counts against no endpoint's health.
   */
  async attempt<Target extends ServingTarget, Answer extends SliceAnswer>(
    target: Target,
    part: Slice,
    run: Run<Target, Answer>,
    mayWait: boolean,
  ): Promise<ServedSlice<Target, Answer>> {
    const health = this.health.of(target);
    const permit = await this.acquirePermit(target, run, this.config.endpointConcurrency, mayWait);
    try {
      // A call that ended while it waited sends no request.
      run.ending.throwIfAborted();
      return await this.tracing.span(run.operation.name, { kind: 'client' }, (span) =>
        this.attemptWithin(span, target, health, part, run),
      );
    } finally {
      permit.release();
    }
  }

  /** Throws EndpointFailure `saturated`. `limit` is always the same number for an endpoint. */
  async acquirePermit(
    target: ServingTarget,
    run: AttemptingCall,
    limit: number,
    mayWait: boolean,
  ): Promise<Permit> {
    const { permits } = this.health.of(target);
    return permits.tryAcquire(limit, run.owner) ?? (await this.waitForPermit(target, permits, run, mayWait));
  }

  private async waitForPermit(
    target: ServingTarget,
    permits: EndpointPermits,
    run: AttemptingCall,
    mayWait: boolean,
  ): Promise<Permit> {
    const startedAt = performance.now();
    if (mayWait) {
      const leave = this.metrics.waits(target.provider.slug);
      const permit = await permits.wait(run.owner, run.deadline, run.ending);
      leave();
      if (permit) return permit;
      run.ending.throwIfAborted();
    }
    this.note(run, target, { startedAt, status: null, errorType: 'saturated' });
    // The provider has not answered; the call's own deadline is over (docs/contract.md#errors).
    if (mayWait) throw deadlineError();
    throw new EndpointFailure('saturated', null, 'too many calls to this endpoint are in flight');
  }

  private async attemptWithin<Target extends ServingTarget, Answer extends SliceAnswer>(
    span: Span | null,
    target: Target,
    health: EndpointHealth,
    part: Slice,
    run: Run<Target, Answer>,
  ): Promise<ServedSlice<Target, Answer>> {
    const startedAt = performance.now();
    const { providerTimeout } = this.config;
    const droppedMembers = recordedEdits(run.operation.droppedMembers(target));
    const note = (status: number | null, errorType: string | null): void => {
      // A call may have thousands of slices: an endpoint has the names once.
      const isNews = droppedMembers.length > 0 && !hasDropped(run, endpointName(target));
      const facts = isNews ? { droppedMembers } : {};
      const attempt = this.note(run, target, { startedAt, status, errorType, facts });
      span?.setAttributes(describeAttempt(run.operation.name, attempt, target, part));
    };
    try {
      const timeout = Math.max(1, Math.min(providerTimeout, run.deadline - startedAt));
      const answer = await run.operation.send(target, part.input, {
        timeout,
        signal: run.cancellation,
        accountId: run.owner.accountId,
      });
      note(200, null);
      const now = performance.now();
      run.credentials.served(target);
      health.recordSuccess(now, now - startedAt, answer.totalTokens ?? answer.promptTokens);
      // The answer comes last: members behind a spread object take microseconds.
      const served = { start: part.start, input: part.input, target, ...answer };
      return droppedMembers.length > 0 ? { ...served, droppedMembers } : served;
    } catch (failure) {
      if (failure instanceof EndpointFailure) {
        const isCancelled = run.cancellation.aborted;
        const isTimeOver = failure.failureClass === 'own_timeout' && !isCancelled;
        // With less than its own time an endpoint may be well.
        const isAtDeadline = isTimeOver && run.deadline - startedAt < providerTimeout;
        const ending = isAtDeadline ? 'own_deadline' : failure.failureClass;
        note(failure.status, isCancelled ? 'cancelled' : ending);
        failure.shiftInputs(part.start);
        const { unpaid: reason } = ENDINGS.own_timeout;
        if (isTimeOver) run.wasted.push({ ...part, target, ...UNREPORTED, reason });
        else if (failure.usage) run.wasted.push({ ...part, target, ...failure.usage });
        this.countFailure(failure, target, run.credentials, isCancelled || isAtDeadline);
      }
      throw failure;
    }
  }

  /** Counts a failure against the credential and the endpoint. `isCutShort`: this service has ended the request. */
  countFailure(
    failure: EndpointFailure,
    target: ServingTarget,
    credentials: CallCredentials,
    isCutShort = false,
  ): void {
    credentials.noteFailure(failure, target);
    const { consequences, failureClass, status } = failure;
    if (consequences.circuit === 'none' || isCutShort) return;
    const health = this.health.of(target);
    const now = performance.now();
    health.lastFailure = { at: now, failureClass, status };
    if (consequences.circuit === 'endpoint') health.recordFailure(now);
  }

  /** Records an attempt of the call. */
  note(
    { attempts }: Pick<AttemptingCall, 'attempts'>,
    target: ServingTarget,
    { startedAt, status, errorType, facts }: AttemptOutcome,
  ): GenerationAttempt {
    const attempt = {
      ...facts,
      provider: target.provider.slug,
      endpoint: endpointName(target),
      status,
      errorType,
      durationMs: Math.round(performance.now() - startedAt),
    };
    attempts.push(attempt);
    const isWrongAddress = errorType === 'address';
    if (isWrongAddress || errorType === null) this.health.addresses.note(target, isWrongAddress, status);
    this.metrics.attempted(attempt);
    return attempt;
  }
}

function hasDropped({ attempts }: Pick<AttemptingCall, 'attempts'>, name: string): boolean {
  return attempts.some(({ endpoint, droppedMembers }) => endpoint === name && droppedMembers !== undefined);
}
