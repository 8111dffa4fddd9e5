// The state of one chat call. Its run creates it and hands it down to the attempts, which read it and add what they learn.
import { Cancellation } from '../../concurrency/cancellation.js';
import type { ChatConfig } from '../../config/chat-config.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { AppError } from '../../domain/errors.js';
import { ruleOf } from '../../domain/ending.js';
import type { CallerGone, CallStop, Ending } from '../../domain/ending.js';
import type { GenerationAttempt } from '../../domain/generations/generation.js';
import { generationHeaderId, uuidV7 } from '../../domain/identifiers.js';
import { countedMoment } from '../../domain/spend/spend.js';
import type { BoundReasoning } from '../../routing/chat/reasoning-origins.js';
import type { BeginningAttempt } from '../../routing/chat/chat-router.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { AttemptingCall } from '../../routing/routed-call.js';
import type { ChatCall } from '../chat-call.js';
import { outputBound, sentOutputLimit } from '../charges/chat-bound.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import type { ClientStream } from '../stream/client-stream.js';
import type { StreamIdentity } from '../clients/client-wire.js';
import type { ReceivedAnswer } from './call-usage.js';
import { DisconnectPolicy } from './disconnect-policy.js';
import { errorOfStop } from './open-chats.js';
import type { OpenChats } from './open-chats.js';

/** An attempt that ended without an answer before another one began, or as the last. */
export interface EndedAttempt {
  readonly target: ChatTarget;
  readonly ending: Ending;
  readonly received: ReceivedAnswer;
  /** Since its request was sent. */
  readonly seconds: number;
}

export class ChatState implements AttemptingCall {
  readonly owner: AttemptingCall['owner'];
  /** performance.now() */
  readonly deadline: number;
  /** Cancels waits for money, for a permit and between attempts. */
  readonly ending = new Cancellation();
  readonly attempts: GenerationAttempt[] = [];
  readonly ended: EndedAttempt[] = [];
  readonly disconnects: DisconnectPolicy;
  /** Null until the call is certain to become a generation. */
  generationId: string | null = null;
  /** The time of the record: on the day of the reservation. */
  createdAt: Date;
  /** performance.now() at that time, from which the record's durations count. */
  countedFrom: number;
  /** Null for a call without a stream, and before its execution. */
  client: ClientStream | null = null;
  /** The last attempt; null: none yet. */
  attempt: BeginningAttempt | null = null;
  /** performance.now() of the last attempt. */
  sentAt = performance.now();
  /** performance.now(); null: no content has come. */
  firstContentAt: number | null = null;
  /** Null: nothing but the client and its provider may end the call. */
  stop: CallStop | null = null;
  /** Null: the history has no signed thought. */
  reasoning: BoundReasoning | null = null;
  private bounded: ReservedCall | null = null;
  private acquiredBytes = 0;
  private readonly stopListeners = new Set<(stop: CallStop) => void>();
  private readonly closers: (() => void)[] = [];

  constructor(
    readonly call: ChatCall,
    /** Its prices hold for the whole call. */
    readonly startedAt: Date,
    config: ChatConfig,
    openChats: OpenChats,
  ) {
    const { caller, client, receivedAt, request } = call;
    this.owner = { accountId: caller.key.accountId };
    this.createdAt = startedAt;
    this.countedFrom = receivedAt;
    this.deadline = receivedAt + config.deadline;
    const { deadline, owner } = this;
    this.disconnects = new DisconnectPolicy({ openChats, config, request, deadline, ...owner });
    const timer = setTimeout(() => this.stopBy('deadline'), Math.max(1, deadline - performance.now()));
    this.onClose(() => clearTimeout(timer));
    this.onClose(openChats.add(() => this.stopBy('shutdown')));
    this.onClose(client.onGone(() => this.ending.abort()));
    this.onClose(() => this.disconnects.close());
    if (client.gone !== null) this.ending.abort();
  }

  get request(): ChatRequest {
    return this.call.request;
  }

  /** Null: the caller is still there. */
  get callerGone(): CallerGone | null {
    return this.call.client.gone;
  }

  /** The error of a call that was stopped before its answer; null: its client has left, or it was not stopped. */
  get stopError(): AppError | null {
    if (this.stop === null || this.callerGone !== null) return null;
    return errorOfStop(this.stop);
  }

  /** The greatest cost of the call. */
  get bound(): ReservedCall {
    if (this.bounded === null) throw new AppError('internal');
    return this.bounded;
  }

  set bound(bounded: ReservedCall) {
    this.bounded = bounded;
  }

  /** The money is reserved: a record that kept its whole duration would end in the future if the wait passed midnight. */
  reservedAt(now: Date): void {
    this.createdAt = countedMoment(this.startedAt, now);
    if (this.createdAt !== this.startedAt) this.countedFrom = performance.now();
  }

  /** From here on the call is a generation. */
  beginGeneration(): string {
    return (this.generationId = uuidV7(this.createdAt));
  }

  beginAttempt(attempt: BeginningAttempt): void {
    this.attempt = attempt;
    this.sentAt = performance.now();
  }

  endAttempt(target: ChatTarget, ending: Ending, received: ReceivedAnswer): void {
    this.ended.push({ target, ending, received, seconds: this.secondsSinceSent });
  }

  get secondsSinceSent(): number {
    return (performance.now() - this.sentAt) / 1_000;
  }

  noteFirstContent(): void {
    this.firstContentAt ??= performance.now();
  }

  /** For an answer without a stream. Throws `overloaded` when its bytes do not fit. */
  acquireAnswer(bytes: number): void {
    this.acquiredBytes = bytes;
    this.call.permit?.acquireAnswerBytes(bytes);
  }

  /** Bytes of an answer without a stream that have come: as many as were acquired are counted already. */
  receive(bytes: number): void {
    if (bytes > this.acquiredBytes) this.hold(bytes);
  }

  /** Bytes of the answer that are kept. */
  hold(bytes: number): void {
    this.call.permit?.setAnswerBytes(bytes);
  }

  outputLimitAt({ endpoint }: ChatTarget): number | null {
    return sentOutputLimit(this.bound, endpoint);
  }

  outputBoundAt({ endpoint }: ChatTarget): number {
    return outputBound(this.bound, endpoint);
  }

  /** Whether the provider may have made tokens that have not come here. */
  hidesTokens({ target, ending, received: { isOver } }: EndedAttempt): boolean {
    const { isStreamed } = this.request;
    if (ending === 'completed' || ending === 'not_recorded') return false;
    const isUnseen = !isStreamed && ruleOf(ending).cause === 'service';
    return isUnseen || this.disconnects.hidesTokens(target, isOver);
  }

  /** For events of a stream. */
  identityOf({ model, provider }: ChatTarget): StreamIdentity {
    return {
      id: generationHeaderId(this.generationId ?? ''),
      created: Math.floor(this.createdAt.getTime() / 1_000),
      model: model.id,
      provider: provider.name,
    };
  }

  /** Calls `listener` when the call is stopped, which may have happened. Returns the way to stop that. */
  onStop(listener: (stop: CallStop) => void): () => void {
    this.stopListeners.add(listener);
    if (this.stop !== null) listener(this.stop);
    return () => void this.stopListeners.delete(listener);
  }

  onClose(closer: () => void): void {
    this.closers.push(closer);
  }

  close(): void {
    for (const closer of this.closers.splice(0)) closer();
  }

  /** Ends the call from outside of its exchange. */
  stopBy(stop: CallStop): void {
    if (this.stop !== null) return;
    this.stop = stop;
    this.ending.abort();
    for (const listener of this.stopListeners) listener(stop);
  }
}
