// Sends the traces of one destination. Between attempts it keeps the confirmed and rejected traces, and the number of
// consecutive failures.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import type { BatchBounds } from '../batches/batch-builder.js';
import { MAX_CONSECUTIVE_REJECTIONS, rejectedAtEnd } from '../batches/batch-sender.js';
import type { BatchSender } from '../batches/batch-sender.js';
import type { DeliveryTarget } from '../workspace-destinations.js';
import {
  countDelivered,
  hasDelivered,
  isRejected,
  rejecting,
  toBlocked,
  without,
} from './attempt-results.js';
import { FaultSearch, isOwnError, isRefusal, mayBeOfOneTrace, mayBlockOneTrace } from './fault-search.js';
import { NOTHING, ParallelSender, join } from './parallel-sender.js';
import type { Attempt, DeliveryResults } from './parallel-sender.js';

// Consecutive failures after which traces are sent one at a time, until one is accepted.
const HALF_OPEN_AFTER = 3;
// Consecutive failures after which the first trace is suspected to cause the platform's own errors.
const SUSPECT_AFTER = 9;
// Number of traces behind the first one that are tried to find out whether trace or platform is at fault.
const WITNESSES = MAX_CONSECUTIVE_REJECTIONS - 1;

export interface SentTraces extends Attempt {
  /** Whether traces remain to be sent although none has failed. */
  readonly hasRest: boolean;
}

export interface IsolationOptions {
  /** Requests in flight at most. */
  readonly maxRequests: number;
  /** Results behind an unsettled trace, of an earlier consumer. */
  readonly ahead: DeliveryResults;
}

export class PoisonIsolation {
  /** Failed attempts since the last success. */
  failures: number;
  private consecutiveRejections: number;
  private readonly search: FaultSearch;
  /** Whether the last attempt was blocked. */
  private isBlocked: boolean;
  /** A blocked destination has accepted a trace: those that it blocks are found at once, without its long pauses. */
  private isSearchingBlocked = false;
  private readonly sender: ParallelSender;
  private readonly maxRequests: number;
  private settledAhead: DeliveryResults;
  /** Requested traces in a row whose refusal is final, because the platform is not suspected to refuse everything. */
  private refusalsAllowed: number;
  /** Traces that the platform accepted and dropped, among those of `settledAhead`. */
  private rejectedAhead = 0;

  constructor(
    sender: Pick<BatchSender, 'send' | 'countRequests'>,
    claim: Pick<ClaimedCursor, 'failures' | 'isPaused' | 'consecutiveRejections'>,
    { maxRequests, ahead }: IsolationOptions,
  ) {
    this.failures = claim.failures;
    this.isBlocked = claim.isPaused;
    this.refusalsAllowed = claim.isPaused ? 0 : WITNESSES;
    this.search = new FaultSearch(claim.failures >= HALF_OPEN_AFTER);
    // A paused destination is paused again by its first rejection.
    this.consecutiveRejections = Math.max(
      claim.consecutiveRejections,
      claim.isPaused ? MAX_CONSECUTIVE_REJECTIONS - 1 : 0,
    );
    this.sender = new ParallelSender(sender, maxRequests);
    this.maxRequests = maxRequests;
    this.settledAhead = ahead;
  }

  /** Results behind an unsettled trace: these traces are not sent again. */
  get ahead(): DeliveryResults {
    return this.settledAhead;
  }

  batchBounds({ kind }: DeliveryTarget): BatchBounds {
    const { maxTraces, parallelRequests } = kind.delivery.limits;
    if (this.needsIsolation) {
      // The witnesses may be behind the results of a whole batch.
      const requests = this.settledAhead.size > 0 ? this.maxRequests + 1 : 1;
      return { maxTraces: 1 + WITNESSES + this.settledAhead.size, requests };
    }
    const requests = parallelRequests === undefined ? this.sender.window.requests : 1;
    const max = maxTraces * (parallelRequests ?? requests);
    // The traces of an attempt may be among results of an earlier one.
    return { maxTraces: Math.min(this.attemptWithin(max) + this.settledAhead.size, max), requests };
  }

  /** Traces of the next attempt. */
  private attemptWithin(max: number): number {
    return this.failures >= HALF_OPEN_AFTER ? 1 : this.search.sizeWithin(max);
  }

  /** A whole batch was settled, or there is none; `hasMore`: the log has more entries right behind it. */
  noteBacklog(hasMore: boolean): void {
    this.sender.window.note(hasMore);
  }

  /** The traces that follow the cursor, in the order of the log. */
  async send(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<SentTraces> {
    const open = traces.filter(({ generationId }) => !this.settledAhead.has(generationId));
    const attempt = this.needsIsolation
      ? await this.sendSuspect(target, open, signal)
      : await this.sendNext(target, open, signal);
    const { failure } = attempt;
    if (failure) this.sender.window.noteFailure();
    const results = new Map([...this.settledAhead, ...attempt.results]);
    if (failure?.class === 'blocked') {
      this.isBlocked = true;
      this.isSearchingBlocked = false;
    }
    const firstOpen = traces.findIndex(({ generationId }) => !results.has(generationId));
    const passed = firstOpen === -1 ? traces : traces.slice(0, firstOpen);
    this.settledAhead = without(results, passed);
    const rejected = this.countRejected(attempt.rejected, countDelivered(passed, results));
    const { rejection } = attempt;
    return { results, rejected, rejection, failure, hasRest: failure === null && firstOpen !== -1 };
  }

  private async sendNext(
    target: DeliveryTarget,
    open: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const next = open.slice(0, this.attemptWithin(open.length));
    const attempt = this.note(this.checkRejections(next, await this.sender.send(target, next, signal)));
    const { failure, results } = attempt;
    if (!failure) this.search.noteSuccess(results.size);
    else if (mayBeOfOneTrace(failure)) this.search.noteFailure(next.length - results.size);
    // A smaller attempt follows immediately.
    return this.isSearchingBlocked && mayBlockOneTrace(failure) ? { ...attempt, failure: null } : attempt;
  }

  private async sendSuspect(
    target: DeliveryTarget,
    open: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const sent = await this.isolatePoison(target, open, signal);
    const attempt = this.note(this.checkRejections(open, sent));
    const [suspect] = open;
    if (suspect && isRejected(attempt, suspect)) {
      this.search.end();
      this.isSearchingBlocked = false;
    } else if (!attempt.failure) this.search.noteSuccess(attempt.results.size);
    return attempt;
  }

  /**
   * Sends traces whose replay was requested, each once more. A rejection is final. So are an error of the platform's own and
   * a block by a filter for a trace that is sent alone, unless the platform refuses more than a few and accepts none: then
   * they stay requested.
   */
  async sendAgain(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const sent = await this.sendRequested(target, traces, signal);
    if (!isRefusal(sent.failure)) return sent;
    let outcome: Attempt = { ...sent, failure: null };
    const suspects: GenerationTrace[] = [];
    for (const trace of traces.filter(({ generationId }) => !sent.results.has(generationId))) {
      const alone =
        traces.length === 1
          ? { ...NOTHING, failure: sent.failure }
          : await this.sendRequested(target, [trace], signal);
      outcome = join(outcome, { ...alone, failure: null });
      if (isRefusal(alone.failure)) suspects.push(trace);
      else if (alone.failure) return { ...outcome, failure: alone.failure };
      else if (hasDelivered(alone.results)) {
        outcome = rejecting(outcome, suspects.splice(0), sent.failure.message);
      }
      if (suspects.length > Math.max(WITNESSES, this.refusalsAllowed)) break;
    }
    if (suspects.length <= this.refusalsAllowed) {
      this.refusalsAllowed -= suspects.length;
      return rejecting(outcome, suspects, sent.failure.message);
    }
    this.refusalsAllowed = 0;
    return { ...outcome, failure: sent.failure };
  }

  private async sendRequested(
    target: DeliveryTarget,
    traces: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const sent = await this.sender.send(target, traces, signal);
    if (!hasDelivered(sent.results)) return sent;
    this.consecutiveRejections = 0;
    return this.note(sent);
  }

  /** Another process has moved the cursor: all traces behind it are sent, whatever their earlier results. */
  forget(): void {
    this.settledAhead = new Map();
    this.rejectedAhead = 0;
    this.search.end();
  }

  /** Dropped traces count when the cursor passes delivered ones; the platform does not name them. */
  private countRejected(rejected: number, delivered: number): number {
    const all = this.rejectedAhead + rejected;
    const counted = Math.min(all, delivered);
    this.rejectedAhead = all - counted;
    return counted;
  }

  /** Whether traces are sent one at a time, because one of them may be at fault. */
  private get needsIsolation(): boolean {
    if (this.isSearchingBlocked && this.search.sizeWithin(Infinity) === 1) return true;
    if (this.failures < HALF_OPEN_AFTER) return false;
    return this.failures >= SUSPECT_AFTER || this.consecutiveRejections > 0 || this.isBlocked;
  }

  /**
   * A platform that repeats an error of its own for one trace, or rejects or blocks it, may do so with everything. If it
   * accepts another trace, the suspect is at fault; if it accepts none, the platform is.
   */
  private async isolatePoison(
    target: DeliveryTarget,
    [suspect, ...others]: readonly GenerationTrace[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    if (!suspect) return NOTHING;
    const attempts = this.failures + 2;
    const first = await this.sender.send(target, [suspect], signal);
    const isBlocking = mayBlockOneTrace(first.failure);
    const isFailing = isBlocking || (isOwnError(first.failure) && this.failures >= SUSPECT_AFTER);
    if (!isFailing && !isRejected(first, suspect)) return first;
    let outcome = first;
    for (const other of this.witnessesAmong(others, isBlocking)) {
      const witness = await this.sender.send(target, [other], signal);
      outcome = { ...join(outcome, witness), failure: outcome.failure ?? witness.failure };
      if (witness.failure && !isRefusal(witness.failure)) break;
      if (!hasDelivered(witness.results)) continue;
      if (!isFailing) return { ...outcome, failure: null };
      // The suspect once more: the platform may have been down or blocking until a moment ago.
      const again = await this.sender.send(target, [suspect], signal);
      outcome = join(outcome, again);
      if (!isRefusal(again.failure)) return outcome;
      return rejecting(outcome, [suspect], `given up after ${attempts} attempts: ${again.failure.message}`);
    }
    return outcome;
  }

  /**
   * A filter that blocks gets one witness for each attempt, each time another one: the traces behind a blocked one often
   * have the same text.
   */
  private witnessesAmong(
    others: readonly GenerationTrace[],
    isBlocking: boolean,
  ): readonly GenerationTrace[] {
    const witnesses = others.slice(0, WITNESSES);
    if (!isBlocking || witnesses.length === 0) return witnesses;
    const next = this.failures % witnesses.length;
    return witnesses.slice(next, next + 1);
  }

  /** Rejections are final unless too many of them come in a row. */
  private checkRejections(traces: readonly GenerationTrace[], attempt: Attempt): Attempt {
    const settled = traces.flatMap(({ generationId }) => attempt.results.get(generationId) ?? []);
    const rejectedCount = rejectedAtEnd(settled);
    const inARow =
      rejectedCount === settled.length ? this.consecutiveRejections + rejectedCount : rejectedCount;
    if (rejectedCount > 0 && inARow >= MAX_CONSECUTIVE_REJECTIONS) {
      if (rejectedCount < settled.length) this.consecutiveRejections = 0;
      return toBlocked(traces, attempt, rejectedCount);
    }
    this.consecutiveRejections = inARow;
    return attempt;
  }

  private note(attempt: Attempt): Attempt {
    if (hasDelivered(attempt.results)) {
      this.failures = 0;
      this.isSearchingBlocked ||= this.isBlocked;
      this.isBlocked = false;
      this.refusalsAllowed = Infinity;
    } else if (attempt.failure) this.refusalsAllowed = 0;
    return attempt;
  }
}
