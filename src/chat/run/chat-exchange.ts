// Asks one endpoint for an answer, and returns as soon as the answer has begun.
import { Injectable } from '@nestjs/common';
import { Cancellation } from '../../concurrency/cancellation.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { Clock } from '../../domain/clock.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { HttpClient, isWhole } from '../../outbound/http-client.js';
import type { OutboundResponse } from '../../outbound/exchange.js';
import type { ChatUpstreamRequest, ChatWire } from '../../providers/shared/chat-wire.js';
import type { LocalChat } from '../../providers/shared/local-chat.js';
import { readUpstreamError } from '../../providers/shared/upstream-error.js';
import type { BegunAnswer } from '../../routing/chat/chat-router.js';
import { EndpointCaller } from '../../routing/endpoints/endpoint-caller.js';
import type { ChatTarget } from '../../routing/endpoints/endpoint-target.js';
import { EndpointFailure } from '../../routing/failures/endpoint-failure.js';
import {
  failureOfError,
  failureOfResponse,
  failureOfThrown,
} from '../../routing/failures/exchange-failures.js';
import type { InnerNames } from '../../routing/failures/provider-words.js';
import { readChatAnswer } from '../stream/chat-answer.js';
import type { ChatAnswer } from '../stream/chat-answer.js';
import type { ChatFailure } from '../stream/chat-failure.js';
import { ChatPump } from '../stream/chat-pump.js';
import type { DisconnectDecision, UpstreamBody } from '../stream/chat-pump.js';
import { ChatStreamRelay } from '../stream/chat-stream-relay.js';
import type { RelayOptions } from '../stream/chat-stream-relay.js';
import type { ClientStream } from '../stream/client-stream.js';
import { systemScheduler } from '../stream/scheduler.js';
import type { StreamIdentity } from '../stream/stream-events.js';
import { IterableBody } from './iterable-body.js';

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
  onFirstContent(): void;
}

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
  ) {}

  /** Throws EndpointFailure. */
  async begin(target: ChatTarget, call: ExchangedCall): Promise<Begun> {
    const names = this.caller.namesOf(target);
    const cancellation = new Cancellation();
    const stop = call.onGone(() => {
      if (call.onDisconnect(target) === 'cancel') cancellation.abort();
    });
    try {
      const { chat } = target.provider;
      if (chat === undefined) throw new Error(`${target.provider.slug} has no chat models`);
      return 'respond' in chat
        ? await this.beginHere(chat, target, call, names)
        : await this.beginUpstream(chat, target, call, names, cancellation);
    } catch (error) {
      if (cancellation.aborted) return cancelled(this.relayFor(NO_WIRE, target, call), call);
      throw failureOfThrown(error, names);
    } finally {
      stop();
    }
  }

  private async beginUpstream(
    wire: ChatWire,
    target: ChatTarget,
    call: ExchangedCall,
    names: InnerNames,
    cancellation: Cancellation,
  ): Promise<Begun> {
    const { request } = call;
    const [apiKey] = names.apiKeys;
    const connection = { baseUrl: names.baseUrl, ...(apiKey === undefined ? {} : { apiKey }) };
    const maxOutputTokens = call.maxOutputTokens(target);
    const built = await wire.buildRequest(
      { request, endpoint: target.endpoint, maxOutputTokens },
      connection,
    );
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
      this.rejectError(wire, response, names);
      return this.whole(wire, response.body, target, call, names, { status: response.status, built });
    }
    const opened = await this.http.open(sent, limits, isEventStream);
    if (isWhole(opened)) {
      this.rejectError(wire, opened, names);
      throw this.failureOf(wrongForm(wire, opened), names);
    }
    return this.stream(opened, wire, target, call, names, { status: opened.status, built });
  }

  private async beginHere(
    chat: LocalChat,
    target: ChatTarget,
    call: ExchangedCall,
    names: InnerNames,
  ): Promise<Begun> {
    const { request, accountId } = call;
    const maxOutputTokens = call.maxOutputTokens(target);
    const pace = this.yieldQueue.begin(accountId);
    const chunks = chat.respond({ request, endpoint: target.endpoint, maxOutputTokens }, pace);
    const served = { status: OK, built: { edits: [] } };
    if (!request.isStreamed) {
      const pieces: Buffer[] = [];
      for await (const piece of chunks) pieces.push(piece);
      return this.whole(NO_WIRE, Buffer.concat(pieces), target, call, names, served);
    }
    const iterator = chunks[Symbol.asyncIterator]();
    const first = await iterator.next();
    const body = new IterableBody(first.done === true ? null : first.value, iterator);
    return this.stream(body, NO_WIRE, target, call, names, served);
  }

  private whole(
    wire: RelayOptions['wire'],
    body: Buffer,
    target: ChatTarget,
    call: ExchangedCall,
    names: InnerNames,
    { status, built }: { readonly status: number; readonly built: Pick<ChatUpstreamRequest, 'edits'> },
  ): BegunWhole {
    const identity = call.identity(target);
    const read = readChatAnswer(body, { identity, wire, excludesReasoning: isExcluded(call) });
    if ('failure' in read) throw this.failureOf(read.failure, names);
    const { answer } = read;
    return { kind: 'whole', answer, status, droppedMembers: built.edits, isCancelled: false };
  }

  private async stream(
    upstream: UpstreamBody,
    wire: RelayOptions['wire'],
    target: ChatTarget,
    call: ExchangedCall,
    names: InnerNames,
    { status, built }: { readonly status: number; readonly built: Pick<ChatUpstreamRequest, 'edits'> },
  ): Promise<BegunStream> {
    const { client, deadline } = call;
    if (client === null) throw new Error('a stream needs a client');
    const { firstTokenTimeout, idleTimeout } = this.config.chat;
    const relay = this.relayFor(wire, target, call);
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
    });
    await pump.opened;
    if (!relay.hasContent && relay.failure) throw this.failureOf(relay.failure, names);
    const isCancelled = !relay.hasContent;
    return { kind: 'stream', relay, pump, status, droppedMembers: built.edits, isCancelled };
  }

  /** A failure inside an answer, as routing and the caller read it. */
  failureOf(failure: ChatFailure, names: InnerNames): EndpointFailure {
    switch (failure.kind) {
      case 'provider_error': {
        const { error } = failure;
        return failureOfError(error.status ?? OK, error.status, error, names, null);
      }
      case 'broken_answer':
        return new EndpointFailure('broken', null, failure.message);
      case 'timeout':
        return new EndpointFailure('timeout', null, failure.message);
      case 'connection':
        return new EndpointFailure('failed', null, `the connection failed: ${failure.message}`);
    }
  }

  namesOf(target: ChatTarget): InnerNames {
    return this.caller.namesOf(target);
  }

  private relayFor(wire: RelayOptions['wire'], target: ChatTarget, call: ExchangedCall): ChatStreamRelay {
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

function cancelled(relay: ChatStreamRelay, { request }: ExchangedCall): Begun {
  const ended = { status: 499, droppedMembers: [], isCancelled: true };
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

/** A success that is no stream: some servers put their error there. */
function wrongForm(wire: ChatWire, response: OutboundResponse): ChatFailure {
  const hasError = /^\s*\[?\s*\{[^]*"error"/.test(response.body.toString('utf8', 0, 4_096));
  return hasError
    ? { kind: 'provider_error', error: wire.readError(response) }
    : { kind: 'broken_answer', message: 'the answer is no stream of events' };
}

/** The answer must not be compressed: a stream is read as it comes. */
function outbound({ method, url, headers, body }: ChatUpstreamRequest) {
  return { method, url, headers: { ...headers, 'accept-encoding': 'identity' }, body: Buffer.concat(body) };
}
