// Sends a chat request to one endpoint, and returns as soon as the answer has begun.
import { Injectable } from '@nestjs/common';
import { Cancellation } from '../../concurrency/cancellation.js';
import { systemScheduler } from '../../concurrency/scheduler.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { wireOf } from '../../domain/chat/chat-request.js';
import { Clock } from '../../domain/clock.js';
import { ruleOf } from '../../domain/ending.js';
import { HttpClient, isWhole } from '../../outbound/http-client.js';
import type { OutboundStream } from '../../outbound/http-client.js';
import type { OutboundRequest, OutboundResponse, SendLimits } from '../../outbound/exchange/exchange.js';
import type { ChatWire } from '../../providers/shared/chat-wire.js';
import { LOST_THOUGHTS } from '../../providers/shared/turns/earlier-thoughts.js';
import type { LocalChat, ProviderConnection } from '../../providers/shared/provider.js';
import { readUpstreamError } from '../../providers/shared/upstream-error.js';
import type { BeginningAttempt } from '../../routing/chat/chat-router.js';
import { AccessTokens } from '../../routing/credentials/access-tokens.js';
import { EndpointCaller } from '../../routing/endpoints/endpoint-caller.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { EndpointFailure } from '../../routing/failures/endpoint-failure.js';
import { failureOfResponse, failureOfThrown, ownLimitOf } from '../../routing/failures/exchange-failures.js';
import { nativeErrorOf } from '../../routing/failures/native-error.js';
import type { InnerNames } from '../../routing/failures/provider-words.js';
import { ChatMetrics } from '../chat-metrics.js';
import type { PassageOptions } from '../passages/passage.js';
import { readChatAnswer } from '../stream/chat-answer.js';
import { brokenAnswer, messageOf } from '../stream/chat-failure.js';
import { ChatPump } from '../stream/chat-pump.js';
import type { UpstreamBody } from '../stream/chat-pump.js';
import { ChatStreamRelay } from '../stream/chat-stream-relay.js';
import { IterableBody } from '../stream/iterable-body.js';
import { failureOfAnswer, failureOfForm, kindOfFailure, upstreamIdIn } from './answer-failures.js';
import { endedHere } from './begun-chat.js';
import type { Begun } from './begun-chat.js';
import { countPrompt } from '../charges/counted-prompt.js';
import { NO_ANSWER, receivedBy } from './call-usage.js';
import type { ChatState } from './chat-state.js';
import { isTranslated, outbound, readableAt } from './sent-request.js';

/** One request of a call to one endpoint. */
interface Exchange {
  readonly target: ChatTarget;
  readonly state: ChatState;
  readonly names: InnerNames;
  readonly attempt: BeginningAttempt;
  /** Ends the request. */
  readonly cancellation: Cancellation;
}

/** The part of a wire that reads answers. */
type AnswerWire = PassageOptions['wire'];

const OK = 200;
/** Types of streams. */
const EVENTS = /^text\/event-stream\b/i;
const FRAMED = /^application\/vnd\.amazon\.eventstream\b/i;
const UNAUTHORISED = 401;
const LOCAL_WIRE: AnswerWire = { protocol: 'chat', readError: readUpstreamError };

@Injectable()
export class ChatExchange {
  constructor(
    private readonly http: HttpClient,
    private readonly caller: EndpointCaller,
    private readonly tokens: AccessTokens,
    private readonly config: AppConfig,
    private readonly clock: Clock,
    private readonly yieldQueue: YieldQueue,
    private readonly metrics: ChatMetrics,
  ) {}

  /** Throws EndpointFailure while another endpoint may be tried. */
  async begin(target: ChatTarget, attempt: BeginningAttempt, state: ChatState): Promise<Begun> {
    state.beginAttempt(attempt);
    const names = this.caller.namesOf(target);
    const cancellation = new Cancellation();
    const exchange: Exchange = { target, state, names, attempt, cancellation };
    const stops = [
      state.call.client.onGone(() => {
        if (state.disconnects.decide(target) === 'cancel') cancellation.abort();
      }),
      state.onStop(() => cancellation.abort()),
    ];
    try {
      const { wire } = target;
      return 'respond' in wire
        ? await this.beginLocal(wire, exchange)
        : await this.beginUpstream(wire, exchange);
    } catch (error) {
      const limit = ownLimitOf(error);
      if (cancellation.aborted || limit !== null) {
        const unreadBytes = limit === 'bound' ? this.mostBytes(state) : 0;
        const { message } = error as Error;
        const ended = endedHere(state, { limit, message }, { ...NO_ANSWER, unreadBytes });
        if (ruleOf(ended.ending).next === false) return ended;
        state.endAttempt(target, ended.ending, ended.received);
      }
      const failure = failureOfThrown(error, names);
      if (failure instanceof EndpointFailure && failure.refusedMember !== null)
        this.metrics.refusedUnexpectedly(target.provider.slug, failure.refusedMember);
      throw failure;
    } finally {
      for (const stop of stops) stop();
    }
  }

  private async beginUpstream(wire: ChatWire, begun: Exchange): Promise<Begun> {
    const { target, state, attempt, cancellation } = begun;
    const { request } = state;
    const connection = await this.tokens.connectionTo(target, begun.names);
    const exchange = { ...begun, names: withToken(begun.names, connection) };
    const maxOutputTokens = state.outputLimitAt(target);
    const sentRequest = readableAt(target, state);
    const built = await wire.buildRequest(
      { request: sentRequest, endpoint: target.endpoint, maxOutputTokens },
      connection,
    );
    attempt.droppedMembers = built.edits;
    if (built.edits.some((edit) => LOST_THOUGHTS.has(edit)))
      this.metrics.reasoningDropped(sentRequest === request ? 'foreign' : 'moved');
    const { headersTimeout, answerTimeout } = this.config.chat;
    const limits = {
      timeout: request.isStreamed ? headersTimeout : answerTimeout,
      maxResponseBytes: this.mostBytes(state),
      signal: cancellation,
    };
    const sent = outbound(built);
    if (!request.isStreamed) {
      const onReceived = (bytes: number): void => state.receive(bytes);
      const response = await this.http.send(sent, { ...limits, onReceived });
      attempt.upstreamId = upstreamIdIn(response);
      this.rejectError(wire, response, exchange);
      return this.whole(wire, response, exchange);
    }
    const opened = await this.open(wire, sent, limits, exchange);
    return this.stream(opened, wire, opened.status, exchange);
  }

  private async open(
    wire: ChatWire,
    sent: OutboundRequest,
    limits: SendLimits,
    exchange: Exchange,
  ): Promise<OutboundStream> {
    const { names, attempt } = exchange;
    try {
      const opened = await this.http.open(sent, limits, (answer) => isEventStream(answer, wire));
      attempt.upstreamId = upstreamIdIn(opened);
      if (!isWhole(opened)) return opened;
      this.rejectError(wire, opened, exchange);
      throw failureOfAnswer(failureOfForm(wire, opened), names);
    } catch (error) {
      const failure = failureOfThrown(error, names);
      if (failure instanceof EndpointFailure && limits.signal?.aborted !== true)
        this.metrics.streamFailed(kindOfFailure(failure), 'headers');
      throw failure;
    }
  }

  private async beginLocal(chat: LocalChat, exchange: Exchange): Promise<Begun> {
    const { target, state } = exchange;
    const { request, owner } = state;
    const maxOutputTokens = state.outputLimitAt(target);
    const pace = this.yieldQueue.begin(owner.accountId);
    const chunks = chat.respond({ request, endpoint: target.endpoint, maxOutputTokens }, pace);
    if (!request.isStreamed) {
      const pieces: Buffer[] = [];
      for await (const piece of chunks) pieces.push(piece);
      return this.whole(LOCAL_WIRE, { status: OK, body: Buffer.concat(pieces) }, exchange);
    }
    const iterator = chunks[Symbol.asyncIterator]();
    const first = await iterator.next();
    const body = new IterableBody(first.done === true ? null : first.value, iterator);
    return this.stream(body, LOCAL_WIRE, OK, exchange);
  }

  private async stream(
    upstream: UpstreamBody,
    wire: AnswerWire,
    status: number,
    exchange: Exchange,
  ): Promise<Begun> {
    const { target, state, names } = exchange;
    const { client } = state;
    if (client === null) throw new Error('a stream needs a client');
    const { firstTokenTimeout, idleTimeout, maxEventBytes, maxAnswerBytes } = this.config.chat;
    const passage = await this.passageOf(wire, exchange);
    const relay = new ChatStreamRelay({ ...passage, maxEventBytes, maxAnswerBytes });
    if (this.config.chat.hasKeepAliveEvents) client.keepAliveEvent = () => relay.keepAlive();
    const pump = new ChatPump({
      upstream,
      relay,
      client,
      scheduler: systemScheduler,
      limits: { firstTokenMs: firstTokenTimeout, idleMs: idleTimeout },
      onDisconnect: () => state.disconnects.decide(target),
      onFirstContent: () => state.noteFirstContent(),
      onHeld: (bytes) => state.hold(bytes),
    });
    state.onClose(state.onStop((stop) => pump.stop(stop)));
    void this.countEvents(relay, pump, target.provider.slug);
    await pump.opened;
    if (relay.hasContent) return { kind: 'stream', relay, pump, status, ending: null };
    const ending = await pump.ended;
    const received = receivedBy(relay);
    const failure = relay.failure ?? brokenAnswer('the stream failed');
    if (ruleOf(ending).next === false)
      return { kind: 'ended', ending, received, status, message: messageOf(failure) };
    this.metrics.streamFailed(failure.kind, 'first_content');
    state.endAttempt(target, ending, received);
    if (ending === 'own_timeout') throw new EndpointFailure(ending, null, messageOf(failure));
    throw failureOfAnswer(failure, names);
  }

  private async countEvents(relay: ChatStreamRelay, pump: ChatPump, provider: string): Promise<void> {
    await pump.ended;
    if (relay.isOutOfOrder) this.metrics.outOfOrder(provider);
    if (relay.unknownEvents > 0) this.metrics.skippedEvents(provider, relay.unknownEvents);
  }

  /** Throws EndpointFailure for a body without an answer. */
  private async whole(
    wire: AnswerWire,
    { status, body }: Pick<OutboundResponse, 'status' | 'body'>,
    exchange: Exchange,
  ): Promise<Begun> {
    const { target, state, names } = exchange;
    const passage = await this.passageOf(wire, exchange);
    const read = await readChatAnswer(body, passage, this.yieldQueue.begin(state.owner.accountId));
    if ('answer' in read) {
      const { answer } = read;
      if (answer.isOutOfOrder) this.metrics.outOfOrder(target.provider.slug);
      state.hold(body.length);
      return { kind: 'whole', answer, status, ending: null };
    }
    const { usage, failure, boundExceeded } = read;
    const received = { ...NO_ANSWER, usage, unreadBytes: boundExceeded === null ? 0 : body.length };
    if (boundExceeded !== null)
      return endedHere(state, { limit: 'bound', message: messageOf(failure) }, received);
    state.endAttempt(target, 'provider_before_content', received);
    throw failureOfAnswer(failure, names);
  }

  namesOf(target: ChatTarget): InnerNames {
    return this.caller.namesOf(target);
  }

  private async passageOf(wire: AnswerWire, exchange: Exchange): Promise<PassageOptions> {
    const { target, state } = exchange;
    const { request } = state;
    const client = wireOf(request);
    const isCounted = request.isStreamed && client === 'messages' && wire.protocol !== client;
    return {
      client,
      isTranslated: isTranslated(target, request),
      identity: state.identityOf(target),
      wire,
      excludesReasoning: request.reasoning?.isExcluded === true,
      choiceCount: request.choiceCount,
      countedPrompt: isCounted ? await this.countedPrompt(exchange) : null,
      ...(request.native?.responses && { responses: request.native.responses }),
    };
  }

  private countedPrompt({ target, state }: Exchange): Promise<number> {
    const { request, bound, owner } = state;
    return countPrompt(request, bound.size, target, this.yieldQueue.begin(owner.accountId));
  }

  private mostBytes({ request }: ChatState): number {
    const { maxAnswerBytes, maxWholeAnswerBytes } = this.config.chat;
    return request.isStreamed ? maxAnswerBytes : maxWholeAnswerBytes;
  }

  private rejectError(wire: ChatWire, response: OutboundResponse, { target, names, state }: Exchange): void {
    if (response.status >= 200 && response.status < 300) return;
    if (response.status === UNAUTHORISED) this.tokens.forget(target, names);
    const client = wireOf(state.request);
    const native =
      client === wire.protocol && !isTranslated(target, state.request)
        ? nativeErrorOf(client, response, names)
        : null;
    throw failureOfResponse(wire, response, names, this.clock.now(), native);
  }
}

/** Errors must not show it. */
function withToken(names: InnerNames, { accessToken }: ProviderConnection): InnerNames {
  return accessToken === undefined ? names : { ...names, apiKeys: [...names.apiKeys, accessToken] };
}

function isEventStream(
  { status, headers }: Pick<OutboundResponse, 'status' | 'headers'>,
  { frames }: ChatWire,
): boolean {
  const isSuccess = status >= 200 && status < 300;
  const type = frames ? FRAMED : EVENTS;
  return isSuccess && type.test(String(headers['content-type'] ?? ''));
}
