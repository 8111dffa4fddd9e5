// Sends a chat request to one endpoint, and returns as soon as the answer has begun.
import { Injectable } from '@nestjs/common';
import { Cancellation } from '../../concurrency/cancellation.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import { HttpClient, isWhole } from '../../outbound/http-client.js';
import type { OutboundStream } from '../../outbound/http-client.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from '../../outbound/exchange/exchange.js';
import type { ChatUpstreamRequest, ChatWire } from '../../providers/shared/chat-wire.js';
import type { LocalChat } from '../../providers/shared/provider.js';
import { readUpstreamError } from '../../providers/shared/upstream-error.js';
import type { BegunAnswer, BeginningAttempt } from '../../routing/chat/chat-router.js';
import { EndpointCaller } from '../../routing/endpoints/endpoint-caller.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { EndpointFailure } from '../../routing/failures/endpoint-failure.js';
import { failureOfResponse, failureOfThrown, isOwnBound } from '../../routing/failures/exchange-failures.js';
import type { InnerNames } from '../../routing/failures/provider-words.js';
import { ChatMetrics } from '../chat-metrics.js';
import { readChatAnswer } from '../stream/chat-answer.js';
import type { ChatAnswer } from '../stream/chat-answer.js';
import { ChatPump } from '../stream/chat-pump.js';
import type { DisconnectDecision, UpstreamBody } from '../stream/chat-pump.js';
import { ChatStreamRelay } from '../stream/chat-stream-relay.js';
import type { RelayOptions } from '../stream/chat-stream-relay.js';
import type { ClientStream } from '../stream/client-stream.js';
import { systemScheduler } from '../../concurrency/scheduler.js';
import type { StreamIdentity } from '../stream/stream-events.js';
import { failureOfAnswer, failureOfForm, kindOfFailure } from './answer-failures.js';
import { IterableBody } from './iterable-body.js';
import { upstreamIdIn } from './upstream-ids.js';

export interface BegunStream extends BegunAnswer {
  readonly kind: 'stream';
  readonly relay: ChatStreamRelay;
  /** Null: the client left before the headers came. */
  readonly pump: ChatPump | null;
}

export interface BegunWhole extends BegunAnswer {
  readonly kind: 'whole';
  /** Null: the client left, and the request was cancelled. */
  readonly answer: ChatAnswer | null;
}

export type Begun = BegunStream | BegunWhole;

/** Shared by the exchanges of one call. */
export interface ExchangedCall {
  readonly request: ChatRequest;
  readonly accountId: string;
  /** Null: without a stream. */
  readonly client: ClientStream | null;
  /** performance.now() */
  readonly deadline: number;
  maxOutputTokens(target: ChatTarget): number | null;
  identity(target: ChatTarget): StreamIdentity;
  /** Once the client has left. */
  onDisconnect(target: ChatTarget): DisconnectDecision;
  /** Calls `listener` when the client leaves. Returns the way to stop that. */
  onGone(listener: () => void): () => void;
  /** The same for the end of the process, which may have come already. */
  onStop(listener: () => void): () => void;
  onFirstContent(): void;
  /** Bytes of the answer that are kept. */
  onHeld(bytes: number): void;
  /** The usage of an attempt that failed before its first content. */
  onWasted(target: ChatTarget, usage: ReportedChatUsage, serviceTier: string | null): void;
}

/** One request of a call to one endpoint. */
interface Exchange {
  readonly target: ChatTarget;
  readonly call: ExchangedCall;
  readonly names: InnerNames;
  readonly attempt: BeginningAttempt;
  /** Ends the request. */
  readonly cancellation: Cancellation;
}

/** The part of a wire that reads answers. */
type AnswerWire = RelayOptions['wire'];

const OK = 200;
const NO_WIRE: Pick<ChatWire, 'readError'> = { readError: readUpstreamError };

@Injectable()
export class ChatExchange {
  constructor(
    private readonly http: HttpClient,
    private readonly caller: EndpointCaller,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    private readonly yieldQueue: YieldQueue,
    private readonly metrics: ChatMetrics,
  ) {}

  /** Throws EndpointFailure. */
  async begin(target: ChatTarget, attempt: BeginningAttempt, call: ExchangedCall): Promise<Begun> {
    const names = this.caller.namesOf(target);
    const cancellation = new Cancellation();
    const exchange: Exchange = { target, call, names, attempt, cancellation };
    let isDraining = false;
    const stops = [
      call.onGone(() => {
        isDraining = call.onDisconnect(target) !== 'cancel';
        if (!isDraining) cancellation.abort();
      }),
      call.onStop(() => cancellation.abort()),
    ];
    try {
      const { chat } = target.provider;
      if (chat === undefined) throw new Error(`${target.provider.slug} has no chat models`);
      return 'respond' in chat
        ? await this.beginLocal(chat, exchange)
        : await this.beginUpstream(chat, exchange);
    } catch (error) {
      // A bound of this service makes no call free that its client has left.
      const isOver = cancellation.aborted || (isDraining && isOwnBound(error));
      if (isOver) return cancelled(this.relayFor(NO_WIRE, exchange), call);
      const failure = failureOfThrown(error, names);
      if (failure instanceof EndpointFailure && failure.refusedMember !== null)
        this.metrics.refusedUnexpectedly(target.provider.slug, failure.refusedMember);
      throw failure;
    } finally {
      for (const stop of stops) stop();
    }
  }

  private async beginUpstream(wire: ChatWire, exchange: Exchange): Promise<Begun> {
    const { target, call, names, attempt, cancellation } = exchange;
    const { request } = call;
    const [apiKey] = names.apiKeys;
    const connection = { baseUrl: names.baseUrl, ...(apiKey === undefined ? {} : { apiKey }) };
    const maxOutputTokens = call.maxOutputTokens(target);
    const built = await wire.buildRequest(
      { request, endpoint: target.endpoint, maxOutputTokens },
      connection,
    );
    attempt.droppedMembers = built.edits;
    const { maxAnswerBytes, headersTimeout, answerTimeout } = this.config.chat;
    const timeout = request.isStreamed ? headersTimeout : answerTimeout;
    const limits = {
      timeout: Math.max(1, Math.min(timeout, call.deadline - performance.now())),
      maxResponseBytes: maxAnswerBytes,
      signal: cancellation,
    };
    const sent = outbound(built);
    if (!request.isStreamed) {
      const response = await this.http.send(sent, limits);
      attempt.upstreamId = upstreamIdIn(response);
      this.rejectError(wire, response, names);
      return whole(wire, response, exchange);
    }
    const opened = await this.open(wire, sent, limits, exchange);
    return this.stream(opened, wire, opened.status, exchange);
  }

  private async open(
    wire: ChatWire,
    sent: OutboundRequest,
    limits: SendLimits,
    { names, attempt }: Exchange,
  ): Promise<OutboundStream> {
    try {
      const opened = await this.http.open(sent, limits, isEventStream);
      attempt.upstreamId = upstreamIdIn(opened);
      if (!isWhole(opened)) return opened;
      this.rejectError(wire, opened, names);
      throw failureOfAnswer(failureOfForm(wire, opened), names);
    } catch (error) {
      const failure = failureOfThrown(error, names);
      if (failure instanceof EndpointFailure && limits.signal?.aborted !== true)
        this.metrics.streamFailed(kindOfFailure(failure), 'headers');
      throw failure;
    }
  }

  private async beginLocal(chat: LocalChat, exchange: Exchange): Promise<Begun> {
    const { target, call } = exchange;
    const { request, accountId } = call;
    const maxOutputTokens = call.maxOutputTokens(target);
    const pace = this.yieldQueue.begin(accountId);
    const chunks = chat.respond({ request, endpoint: target.endpoint, maxOutputTokens }, pace);
    if (!request.isStreamed) {
      const pieces: Buffer[] = [];
      for await (const piece of chunks) pieces.push(piece);
      return whole(NO_WIRE, { status: OK, body: Buffer.concat(pieces) }, exchange);
    }
    const iterator = chunks[Symbol.asyncIterator]();
    const first = await iterator.next();
    const body = new IterableBody(first.done === true ? null : first.value, iterator);
    return this.stream(body, NO_WIRE, OK, exchange);
  }

  private async stream(
    upstream: UpstreamBody,
    wire: AnswerWire,
    status: number,
    exchange: Exchange,
  ): Promise<BegunStream> {
    const { target, call, names } = exchange;
    const { client, deadline } = call;
    if (client === null) throw new Error('a stream needs a client');
    const { firstTokenTimeout, idleTimeout } = this.config.chat;
    const relay = this.relayFor(wire, exchange);
    const pump = new ChatPump({
      upstream,
      relay,
      client,
      scheduler: systemScheduler,
      limits: {
        firstTokenMs: Math.max(1, Math.min(firstTokenTimeout, deadline - performance.now())),
        idleMs: idleTimeout,
      },
      onDisconnect: () => call.onDisconnect(target),
      onFirstContent: () => call.onFirstContent(),
      onHeld: (bytes) => call.onHeld(bytes),
    });
    let isStopped = false;
    const leave = call.onStop(() => {
      isStopped = true;
      pump.abort({ kind: 'timeout', message: 'the service is shutting down' });
    });
    await pump.opened;
    leave();
    const isCancelled = !relay.hasContent;
    if (isCancelled && relay.failure && !isStopped) {
      this.metrics.streamFailed(relay.failure.kind, 'first_content');
      if (relay.usage) call.onWasted(target, relay.usage, relay.serviceTier);
      throw failureOfAnswer(relay.failure, names);
    }
    return { kind: 'stream', relay, pump, status, isCancelled };
  }

  namesOf(target: ChatTarget): InnerNames {
    return this.caller.namesOf(target);
  }

  private relayFor(wire: AnswerWire, { target, call }: Exchange): ChatStreamRelay {
    const { maxEventBytes, maxAnswerBytes } = this.config.chat;
    return new ChatStreamRelay({
      identity: call.identity(target),
      wire,
      excludesReasoning: isExcluded(call),
      choiceCount: call.request.choiceCount,
      maxEventBytes,
      maxAnswerBytes,
    });
  }

  private rejectError(wire: ChatWire, response: OutboundResponse, names: InnerNames): void {
    if (response.status < 200 || response.status >= 300)
      throw failureOfResponse(wire, response, names, this.clock.now());
  }
}

/** Throws EndpointFailure for a body without an answer. */
function whole(
  wire: AnswerWire,
  { status, body }: Pick<OutboundResponse, 'status' | 'body'>,
  { target, call, names }: Exchange,
): BegunWhole {
  const identity = call.identity(target);
  const read = readChatAnswer(body, { identity, wire, excludesReasoning: isExcluded(call) });
  if ('failure' in read) {
    if (read.usage) call.onWasted(target, read.usage, null);
    throw failureOfAnswer(read.failure, names);
  }
  const { answer } = read;
  call.onHeld(body.length);
  return { kind: 'whole', answer, status, isCancelled: false };
}

function cancelled(relay: ChatStreamRelay, { request }: ExchangedCall): Begun {
  const ended = { status: null, isCancelled: true };
  return request.isStreamed
    ? { ...ended, kind: 'stream', relay, pump: null }
    : { ...ended, kind: 'whole', answer: null };
}

function isExcluded({ request }: ExchangedCall): boolean {
  return request.reasoning?.isExcluded === true;
}

function isEventStream({ status, headers }: Pick<OutboundResponse, 'status' | 'headers'>): boolean {
  const isSuccess = status >= 200 && status < 300;
  return isSuccess && /^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''));
}

/** The answer must not be compressed: a stream is read as it comes. */
function outbound({ method, url, headers, body }: ChatUpstreamRequest) {
  return { method, url, headers: { ...headers, 'accept-encoding': 'identity' }, body: Buffer.concat(body) };
}
