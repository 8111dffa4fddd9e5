// The life of one chat call: plan, reserve, execute, settle, close.
import { textBytes } from '../../catalogue/token-count.js';
import { AppError, toAppError } from '../../domain/errors.js';
import type { Mutable } from '../../domain/members.js';
import { toRoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import type { ChatRoute } from '../../routing/chat/chat-planner.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { NO_RETRY } from '../../routing/failures/caller-error.js';
import { describeRouting } from '../../routing/routing-metadata.js';
import type { RoutingProgress } from '../../routing/routing-metadata.js';
import { CallSpend } from '../../spend/call-spend.js';
import type { ChatCall } from '../chat-call.js';
import { answerBytes } from '../charges/answer-bytes.js';
import { withinContext } from '../charges/chat-bounds.js';
import { reserveChat } from '../charges/chat-reservation.js';
import { injectedLimits } from '../charges/injected-limits.js';
import { measurePrompt } from '../charges/prompt-size.js';
import { PromptTokens } from '../charges/prompt-tokens.js';
import { releaseRawMembers } from '../request/raw-members.js';
import type { ClientStream } from '../stream/client-stream.js';
import type { StreamIdentity } from '../clients/client-wire.js';
import type { ChatServices } from './chat-services.js';
import { settlementOf } from './chat-settlement.js';
import type { SettledChat, Settlement } from './chat-settlement.js';
import { ChatState } from './chat-state.js';
import { withoutAnswer } from './executed-chat.js';
import type { ExecutedChat } from './executed-chat.js';
import { notRecorded } from './record-commits.js';
import type { StartedCommit } from './record-commits.js';

/** Its steps run once each, in the order of the methods. close() follows on every path. */
export class ChatRun {
  private readonly state: ChatState;
  private readonly spend: CallSpend;
  private readonly progress: Mutable<RoutingProgress> = { route: null, routed: null, durationMs: null };
  private commit: StartedCommit | null = null;

  constructor(
    private readonly call: ChatCall,
    private readonly services: ChatServices,
  ) {
    const { spendLimiter, clock, config, openChats } = services;
    this.spend = new CallSpend(spendLimiter, call.caller);
    this.state = new ChatState(call, clock.now(), config.chat, openChats);
  }

  /** Null until the call is certain to become a generation. */
  get generationId(): string | null {
    return this.state.generationId;
  }

  /** Null for a call without a stream, and before its execution. */
  get client(): ClientStream | null {
    return this.state.client;
  }

  /**
   * Chooses the endpoints, measures the prompt, leaves out endpoints whose context it exceeds, and acquires memory for an
   * answer without a stream. Throws `overloaded` when that does not fit.
   */
  async plan(): Promise<ChatRoute> {
    const { state } = this;
    const { caller, request, preferences, context } = this.call;
    const { sessionId } = context;
    const { planner, spendLimiter, config, yieldQueue } = this.services;
    const limits = await spendLimiter.limitsOf(caller);
    const planned = await planner.plan({ caller, request, sessionId, preferences, limits });
    const { defaultMaxOutputTokens, deadline, maxWholeAnswerBytes } = config.chat;
    const pace = yieldQueue.begin(caller.key.accountId);
    const size = await measurePrompt(request, pace);
    const counted = { request, size, tokens: new PromptTokens(request) };
    const targets = await withinContext(planned.targets, counted, pace);
    const defaultTokens = limits.isLimited ? defaultMaxOutputTokens : null;
    state.bound = {
      ...counted,
      predictionBytes: textBytes(request.prediction ?? ''),
      injectedLimits: await injectedLimits(targets, counted, defaultTokens, pace),
      from: state.startedAt,
      until: new Date(state.startedAt.getTime() + deadline),
    };
    const route = { ...planned, targets };
    state.reasoning = route.reasoning;
    this.progress.route = route;
    if (!request.isStreamed) {
      const outputTokens = Math.max(0, ...targets.map((target) => state.outputBoundAt(target)));
      state.acquireAnswer(answerBytes(request, outputTokens, maxWholeAnswerBytes));
    }
    return route;
  }

  /**
   * Returns the endpoints that the reservation covers; null: the client or the process has ended the wait for money.
   * Throws when no endpoint fits the limit.
   */
  async reserve(route: ChatRoute): Promise<ChatRoute | null> {
    const { state, spend, services } = this;
    const { ending } = state;
    if (ending.aborted) return null;
    const pace = services.yieldQueue.begin(route.accountId);
    try {
      const targets = await reserveChat(spend, route.targets, state.bound, pace, ending);
      state.onClose(spend.onLapse(() => state.stopBy('lapse')));
      state.reservedAt(services.clock.now());
      return ending.aborted ? null : { ...route, targets };
    } catch (error) {
      if (ending.aborted) return null;
      throw error;
    }
  }

  /** The call ends before any provider is called: a generation without cost. */
  abandon(route: ChatRoute): ExecutedChat {
    this.state.beginGeneration();
    const ended = withoutAnswer(this.state, null);
    return { route, routed: { begun: null, passedOver: [], error: ended.error }, ...ended };
  }

  /** Calls the providers. Never throws: from here on the call is a generation, and a failure is part of its record. */
  async execute(route: ChatRoute): Promise<ExecutedChat> {
    const { state, services } = this;
    const { planner, router, exchange, answerEnds } = services;
    const id = state.beginGeneration();
    if (state.request.isStreamed) this.openStream(id, route);
    const routed = await router.run(route, state, (target, attempt) =>
      exchange.begin(target, attempt, state),
    );
    const { begun } = routed;
    if (begun === null) {
      const ended = withoutAnswer(state, routed.error);
      return { route, routed: { ...routed, error: ended.error }, ...ended };
    }
    const { answer, target } = begun;
    if (answer.ending === null) planner.served(route, target);
    const { members, native } = state.request;
    releaseRawMembers(members);
    if (native !== null) releaseRawMembers(native.members);
    const ended = await answerEnds.of(answer, target, state);
    if (answer.kind === 'whole') planner.thought(route, target, answer.answer.signatures);
    else if (answer.kind === 'stream') planner.thought(route, target, answer.relay.signatures);
    router.ended(begun, state, ended.ending, ended.received.usage?.completionTokens ?? 0);
    return { route, routed, ...ended };
  }

  /**
   * Records the generation and replaces the reservation by the cost, in one commit. Throws when the record is not
   * committed in time.
   */
  async settle(executed: ExecutedChat): Promise<SettledChat> {
    const { call, services, progress, state } = this;
    const settlement = await this.settlementOf(executed);
    const { settled, measured } = settlement;
    const { routed, route, error } = executed;
    const served = routed.begun ? [routed.begun] : [];
    const { passedOver } = routed;
    Object.assign(progress, { route, routed: { attempts: state.attempts, passedOver, error, served } });
    progress.durationMs = measured.durationMs;
    services.metrics.settled(measured);
    this.commit = services.records.begin(settlement, call.request, this.spend.releases, () => {
      if (call.request.isStreamed || error !== null) return Promise.resolve(settlement);
      // The caller has no answer: the call has failed, and costs nothing.
      return this.settlementOf({ ...executed, ending: 'not_recorded', error: notRecorded() });
    });
    await this.commit.inTime;
    return settled;
  }

  /**
   * Frees all that the run holds. A lease whose part went to the log stays reduced, even if the commit is uncertain. The
   * money, and the place among the calls in flight, stay with a commit that goes on.
   */
  close(): void {
    this.state.close();
    if (this.commit === null) this.spend.close();
    else void this.closeAfter(this.commit);
  }

  /** A failure of this run, with its generation's id and, on request, its routing. */
  toCallerError(failure: unknown): AppError {
    const error = toAppError(failure);
    // The provider has worked and bills: a repeat by the client would be billed again.
    const shown =
      error.code === 'provider_timeout' && !this.call.request.isStreamed
        ? error.withHeaders(NO_RETRY)
        : error;
    const routingMetadata = this.call.wantsRoutingMetadata ? this.describeRouting() : null;
    return shown.ofCall({ generationId: this.generationId, routingMetadata });
  }

  /** `openrouter_metadata` for a caller who asks for it. */
  routingMembers(): Readonly<Record<string, unknown>> {
    if (!this.call.wantsRoutingMetadata) return {};
    return { openrouter_metadata: toRoutingMetadataDto(this.describeRouting()) };
  }

  /** For events of a stream without an answer. */
  identityOf(target: ChatTarget): StreamIdentity {
    return this.state.identityOf(target);
  }

  private openStream(generationId: string, { targets }: ChatRoute): void {
    const { state } = this;
    const { openStreams } = this.services.metrics;
    state.client = this.call.client.openStream(generationId, () => ({
      passedOver: state.attempt?.passedOver() ?? [],
      deprecation: (state.attempt?.target ?? targets[0])?.model ?? {},
    }));
    openStreams.inc();
    state.onClose(() => openStreams.dec());
  }

  private settlementOf(executed: ExecutedChat): Promise<Settlement> {
    const { state, spend, services } = this;
    const pace = services.yieldQueue.begin(state.owner.accountId);
    return settlementOf(executed, state, spend.bound, pace);
  }

  private async closeAfter(commit: StartedCommit): Promise<void> {
    const { permit } = this.call;
    permit?.hold();
    await commit.over;
    this.spend.close();
    permit?.release();
  }

  private describeRouting() {
    const { request, caller } = this.call;
    return describeRouting(request.models[0] ?? '', this.progress, caller.hits?.found);
  }
}
