// The life of one chat call: plan, reserve, execute, settle, close.
import { textBytes } from '../../catalogue/token-count.js';
import { AppError, toAppError } from '../../domain/errors.js';
import { generationHeaderId, uuidV7 } from '../../domain/identifiers.js';
import type { Mutable } from '../../domain/members.js';
import type { ChatRoute } from '../../routing/chat/chat-planner.js';
import type { BeginningAttempt } from '../../routing/chat/chat-router.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import { NO_RETRY } from '../../routing/failures/caller-error.js';
import type { AttemptingCall } from '../../routing/routed-call.js';
import { describeRouting } from '../../routing/routing-metadata.js';
import type { RoutingProgress } from '../../routing/routing-metadata.js';
import { countedMoment } from '../../domain/spend/spend.js';
import { CallSpend } from '../../spend/call-spend.js';
import { toRoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import type { ChatCall } from '../chat-call.js';
import { sentOutputLimit } from '../charges/chat-bound.js';
import { withinContext } from '../charges/chat-bounds.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import { injectedLimits } from '../charges/injected-limits.js';
import { releaseRawMembers } from '../request/raw-members.js';
import { reserveChat } from '../charges/chat-reservation.js';
import { measurePrompt } from '../charges/prompt-size.js';
import { PromptTokens } from '../charges/prompt-tokens.js';
import type { ChatServices } from './chat-services.js';
import type { ClientStream } from '../stream/client-stream.js';
import type { StreamIdentity } from '../stream/stream-events.js';
import { CallEnding } from './call-ending.js';
import type { FailedUsage } from './charge-of-run.js';
import type { ExecutedChat, SettledChat } from './executed-chat.js';
import { NO_ANSWER } from './chat-ending.js';
import { settlementOf } from './chat-settlement.js';
import type { Settlement } from './chat-settlement.js';
import { DisconnectPolicy } from './disconnect-policy.js';
import { notRecorded } from './record-commits.js';
import type { StartedCommit } from './record-commits.js';

/** Its steps run once each, in the order of the methods. close() follows on every path. */
export class ChatRun {
  /** Null until the call is certain to become a generation. */
  generationId: string | null = null;
  /** Null for a call without a stream, and before its execution. */
  client: ClientStream | null = null;
  private readonly spend: CallSpend;
  /** Its prices hold for the whole call. */
  private readonly startedAt: Date;
  /** The time of the record: on the day of the reservation. */
  private createdAt: Date;
  /** performance.now() at the time of the record, from which its durations count. */
  private countedFrom: number;
  private readonly deadline: number;
  private readonly ending: CallEnding;
  private readonly attempting: AttemptingCall;
  private readonly disconnects: DisconnectPolicy;
  private readonly progress: Mutable<RoutingProgress> = { route: null, routed: null, durationMs: null };
  private readonly stops: (() => void)[] = [];
  private bounded: ReservedCall | null = null;
  private sentAt: number;
  private firstContentAt: number | null = null;
  private attempt: BeginningAttempt | null = null;
  private readonly failed: FailedUsage[] = [];
  private commit: StartedCommit | null = null;

  constructor(
    private readonly call: ChatCall,
    private readonly services: ChatServices,
  ) {
    const { caller } = call;
    this.spend = new CallSpend(services.spendLimiter, caller.key);
    this.startedAt = services.clock.now();
    this.createdAt = this.startedAt;
    this.countedFrom = call.receivedAt;
    this.sentAt = performance.now();
    this.deadline = call.receivedAt + services.config.chat.deadline;
    this.ending = new CallEnding(call.client, services.openChats);
    const owner = { accountId: caller.key.accountId };
    this.attempting = { owner, deadline: this.deadline, ending: this.ending.cancellation, attempts: [] };
    this.disconnects = new DisconnectPolicy({
      openChats: services.openChats,
      config: services.config.chat,
      isStreamed: call.request.isStreamed,
      deadline: this.deadline,
    });
    this.stops.push(
      () => this.ending.close(),
      () => this.disconnects.close(),
    );
  }

  /** Chooses the endpoints, measures the prompt, and leaves out endpoints whose context it exceeds. */
  async plan(): Promise<ChatRoute> {
    const { caller, request, preferences, context } = this.call;
    const { sessionId } = context;
    const { planner, spendLimiter, config, yieldQueue } = this.services;
    const limits = await spendLimiter.limitsOf(caller.key);
    const planned = await planner.plan({ key: caller.key, request, sessionId, preferences, limits });
    const { defaultMaxOutputTokens, deadline } = config.chat;
    const pace = yieldQueue.begin(caller.key.accountId);
    const size = await measurePrompt(request, pace);
    const counted = { request, size, tokens: new PromptTokens(request) };
    const targets = await withinContext(planned.targets, counted, pace);
    const defaultTokens = limits.isLimited ? defaultMaxOutputTokens : null;
    this.bounded = {
      ...counted,
      predictionBytes: textBytes(request.prediction ?? ''),
      injectedLimits: await injectedLimits(targets, counted, defaultTokens, pace),
      from: this.startedAt,
      until: new Date(this.startedAt.getTime() + deadline),
    };
    const route = { ...planned, targets };
    this.progress.route = route;
    return route;
  }

  /**
   * Returns the endpoints that the reservation covers; null: the client or the process has ended the wait for money.
   * Throws when no endpoint fits the limit.
   */
  async reserve(route: ChatRoute): Promise<ChatRoute | null> {
    const { cancellation } = this.ending;
    if (cancellation.aborted) return null;
    const pace = this.services.yieldQueue.begin(route.accountId);
    try {
      const targets = await reserveChat(this.spend, route.targets, this.boundedCall(), pace, cancellation);
      this.stops.push(this.spend.onLapse((error) => this.ending.stop(error)));
      // The wait may have passed midnight. A record that kept its whole duration would end in the future.
      this.createdAt = countedMoment(this.startedAt, this.services.clock.now());
      if (this.createdAt !== this.startedAt) this.countedFrom = performance.now();
      return cancellation.aborted ? null : { ...route, targets };
    } catch (error) {
      if (cancellation.aborted) return null;
      throw error;
    }
  }

  /** The call ends before any provider is called: a generation without cost. */
  abandon(route: ChatRoute): ExecutedChat {
    this.generationId = uuidV7(this.createdAt);
    const { error } = this.ending;
    const routed = { begun: null, passedOver: [], error };
    return { route, routed, kind: 'failed', received: NO_ANSWER, error };
  }

  /** Calls the providers. Never throws: from here on the call is a generation, and a failure is part of its record. */
  async execute(route: ChatRoute): Promise<ExecutedChat> {
    const { request, client } = this.call;
    const { planner, router, exchange, metrics } = this.services;
    const id = uuidV7(this.createdAt);
    this.generationId = id;
    if (request.isStreamed) {
      this.client = client.openStream(id, () => this.attempt?.passedOver() ?? []);
      metrics.openStreams.inc();
      this.stops.push(() => metrics.openStreams.dec());
    }
    const routed = await router.run(route, this.attempting, (target, attempt) => {
      this.sentAt = performance.now();
      this.attempt = attempt;
      return exchange.begin(target, attempt, {
        request,
        accountId: route.accountId,
        client: this.client,
        deadline: this.deadline,
        maxOutputTokens: (to) => sentOutputLimit(this.boundedCall(), to.endpoint),
        identity: (of) => this.identityOf(of),
        onDisconnect: (from) => this.disconnects.decide(from),
        onGone: (listener) => client.onGone(listener),
        onStop: (listener) => this.ending.onStop(listener),
        onFirstContent: () => (this.firstContentAt ??= performance.now()),
        onHeld: (bytes) => this.call.permit?.setAnswerBytes(bytes),
        onWasted: (from, usage, serviceTier) => this.failed.push({ target: from, usage, serviceTier }),
      });
    });
    const { begun } = routed;
    if (begun === null) {
      const error = this.ending.error ?? routed.error;
      return { route, routed: { ...routed, error }, kind: 'failed', received: NO_ANSWER, error };
    }
    if (!begun.answer.isCancelled) planner.served(route, begun.target);
    releaseRawMembers(request.members);
    const finished = await this.services.answerEnds.of(begun.answer, {
      target: begun.target,
      deadline: this.deadline,
      cutKind: (of) => this.disconnects.cutKind(of),
      isGone: () => client.isGone,
      onStop: (listener) => this.ending.onStop(listener),
    });
    const isBroken = finished.kind === 'failed';
    router.ended(begun, this.attempting, isBroken ? null : (finished.received.usage?.completionTokens ?? 0));
    // The attempt was ended before its answer began.
    const { error } = this.ending;
    if (begun.answer.isCancelled && error !== null)
      return { route, routed, ...finished, kind: 'failed', error };
    return { route, routed, ...finished };
  }

  /**
   * Records the generation and replaces the reservation by the cost, in one commit. Throws when the record is not
   * committed in time.
   */
  async settle(executed: ExecutedChat): Promise<SettledChat> {
    const { call, services, progress } = this;
    const settlement = await this.settlementOf(executed);
    const { settled, measured } = settlement;
    const { routed, route, error } = executed;
    const served = routed.begun ? [routed.begun] : [];
    const { attempts } = this.attempting;
    const { passedOver } = routed;
    Object.assign(progress, { route, routed: { attempts, passedOver, error, served } });
    progress.durationMs = measured.durationMs;
    services.metrics.settled(measured);
    this.commit = services.records.begin(settlement, call.request, this.spend.releases, () => {
      if (call.request.isStreamed || error !== null) return Promise.resolve(settlement);
      // The caller has no answer: the call has failed, and costs nothing.
      return this.settlementOf({ ...executed, kind: 'failed', error: notRecorded() });
    });
    await this.commit.inTime;
    return settled;
  }

  private settlementOf(executed: ExecutedChat): Promise<Settlement> {
    const { call, services, spend, createdAt, countedFrom, client, sentAt, firstContentAt } = this;
    const { generationId, failed } = this;
    if (generationId === null) return failInternally();
    const { attempts, owner } = this.attempting;
    const moments = { createdAt, countedFrom, sentAt, firstContentAt };
    const facts = { call, generationId, client, ...moments, attempts, failed };
    return settlementOf(
      executed,
      { ...facts, bounded: this.boundedCall(), reserved: spend.bound },
      services.yieldQueue.begin(owner.accountId),
    );
  }

  /**
   * Frees all that the run holds. A lease whose part went to the log stays reduced, even if the commit is uncertain. The
   * money, and the place among the calls in flight, stay with a commit that goes on.
   */
  close(): void {
    for (const stop of this.stops.splice(0)) stop();
    if (this.commit === null) this.spend.close();
    else void this.closeAfter(this.commit);
  }

  private async closeAfter(commit: StartedCommit): Promise<void> {
    const { permit } = this.call;
    permit?.hold();
    await commit.over;
    this.spend.close();
    permit?.release();
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
    return {
      id: generationHeaderId(this.generationId ?? ''),
      created: Math.floor(this.createdAt.getTime() / 1_000),
      model: target.model.id,
      provider: target.provider.name,
    };
  }

  private describeRouting() {
    return describeRouting(this.call.request.models[0] ?? '', this.progress);
  }

  private boundedCall(): ReservedCall {
    return this.bounded ?? failInternally();
  }
}

function failInternally(): never {
  throw new AppError('internal');
}
