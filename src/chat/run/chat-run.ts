// The life of one chat call: plan, reserve, execute, settle, close.
import { Injectable } from '@nestjs/common';
import { Cancellation } from '../../concurrency/cancellation.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import { AppConfig } from '../../config/app-config.js';
import { GenerationPublisher } from '../../deliveries/generation-publisher.js';
import { textBytes } from '../../catalogue/token-count.js';
import { Clock } from '../../domain/clock.js';
import { AppError, toAppError } from '../../domain/errors.js';
import { contentOfChat } from '../../domain/generations/generation-content.js';
import { generationHeaderId, uuidV7 } from '../../domain/identifiers.js';
import type { Mutable } from '../../domain/members.js';
import type { SpendLimits } from '../../domain/spend/spend-limit.js';
import { GenerationLog } from '../../persistence/generations/generation-log.js';
import { ChatPlanner } from '../../routing/chat/chat-planner.js';
import type { ChatRoute } from '../../routing/chat/chat-planner.js';
import { ChatRouter } from '../../routing/chat/chat-router.js';
import type { ChatTarget } from '../../routing/endpoints/endpoint-target.js';
import { NO_RETRY } from '../../routing/failures/caller-error.js';
import type { AttemptingCall } from '../../routing/routed-call.js';
import { describeRouting } from '../../routing/routing-metadata.js';
import type { RoutingProgress } from '../../routing/routing-metadata.js';
import { CallSpend } from '../../spend/call-spend.js';
import { SpendLimiter } from '../../spend/spend-limiter.js';
import { UnpaidCosts } from '../../spend/unpaid-costs.js';
import { toRoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import type { ChatCall } from '../chat-call.js';
import { ChatMetrics } from '../chat-metrics.js';
import { outputBound, sentOutputLimit } from '../charges/chat-bound.js';
import { boundsOfChat, cheaperTargets } from '../charges/chat-bounds.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import { measurePrompt } from '../charges/prompt-size.js';
import type { ClientStream } from '../stream/client-stream.js';
import type { StreamIdentity } from '../stream/stream-events.js';
import { AnswerEnds } from './answer-end.js';
import type { ExecutedChat, SettledChat } from './executed-chat.js';
import { chargeOfRun } from './charge-of-run.js';
import { NO_ANSWER, usageOf } from './chat-ending.js';
import { ChatExchange } from './chat-exchange.js';
import { describeChat } from './chat-record.js';
import { DisconnectPolicy } from './disconnect-policy.js';
import { OpenChats } from './open-chats.js';

@Injectable()
export class ChatRuns {
  constructor(
    readonly planner: ChatPlanner,
    readonly router: ChatRouter,
    readonly exchange: ChatExchange,
    readonly answerEnds: AnswerEnds,
    readonly spendLimiter: SpendLimiter,
    readonly unpaid: UnpaidCosts,
    readonly log: GenerationLog,
    readonly publisher: GenerationPublisher,
    readonly openChats: OpenChats,
    readonly metrics: ChatMetrics,
    readonly config: AppConfig,
    readonly clock: Clock,
    readonly yieldQueue: YieldQueue,
  ) {}

  begin(call: ChatCall): ChatRun {
    return new ChatRun(call, this);
  }
}

/** Its steps run once each, in the order of the methods. close() follows on every path. */
export class ChatRun {
  /** Null until the call is certain to become a generation. */
  generationId: string | null = null;
  /** Null for a call without a stream, and before its execution. */
  client: ClientStream | null = null;
  private readonly spend: CallSpend;
  private readonly createdAt: Date;
  private readonly deadline: number;
  private readonly attempting: AttemptingCall;
  private readonly disconnects: DisconnectPolicy;
  private readonly progress: Mutable<RoutingProgress> = { route: null, routed: null, durationMs: null };
  private readonly stops: (() => void)[] = [];
  private limits: SpendLimits | null = null;
  private bounded: ReservedCall | null = null;
  private sentAt: number;
  private firstContentAt: number | null = null;

  constructor(
    private readonly call: ChatCall,
    private readonly services: ChatRuns,
  ) {
    const { caller } = call;
    this.spend = new CallSpend(services.spendLimiter, caller.key);
    this.createdAt = services.clock.now();
    this.sentAt = performance.now();
    this.deadline = call.receivedAt + services.config.chat.deadline;
    const ending = new Cancellation();
    const owner = { accountId: caller.key.accountId };
    this.attempting = { owner, deadline: this.deadline, ending, attempts: [] };
    this.disconnects = new DisconnectPolicy({
      openChats: services.openChats,
      config: services.config.chat,
      isStreamed: call.request.isStreamed,
      deadline: this.deadline,
    });
    this.stops.push(
      call.client.onGone(() => ending.abort()),
      () => this.disconnects.close(),
    );
    if (call.client.isGone) ending.abort();
  }

  /** Chooses the endpoints and measures the prompt. */
  async plan(): Promise<ChatRoute> {
    const { caller, request, preferences } = this.call;
    const { planner, spendLimiter, config, yieldQueue } = this.services;
    this.limits = await spendLimiter.limitsOf(caller.key);
    const route = await planner.plan({ key: caller.key, request, preferences, limits: this.limits });
    this.progress.route = route;
    const { defaultMaxOutputTokens, deadline } = config.chat;
    this.bounded = {
      request,
      size: await measurePrompt(request, yieldQueue.begin(caller.key.accountId)),
      predictionBytes: textBytes(request.prediction ?? ''),
      defaultOutputTokens: this.limits.isLimited ? defaultMaxOutputTokens : null,
      from: this.createdAt,
      until: new Date(this.createdAt.getTime() + deadline),
    };
    return route;
  }

  /** Returns the endpoints that the reservation covers. Throws when no endpoint fits the limit. */
  async reserve(route: ChatRoute): Promise<ChatRoute> {
    this.attempting.ending.throwIfAborted();
    const bounded = this.boundedCall();
    const pace = this.services.yieldQueue.begin(route.accountId);
    const cheaper = cheaperTargets(route.targets, bounded);
    for (const targets of [route.targets, ...cheaper].slice(0, -1))
      if (await this.spend.tryReserve(boundsOfChat(targets, bounded, pace))) return { ...route, targets };
    const targets = cheaper.at(-1) ?? route.targets;
    await this.spend.reserve(boundsOfChat(targets, bounded, pace));
    this.attempting.ending.throwIfAborted();
    return { ...route, targets };
  }

  /** Calls the providers. Never throws: from here on the call is a generation, and a failure is part of its record. */
  async execute(route: ChatRoute): Promise<ExecutedChat> {
    const { request, client } = this.call;
    const { router, exchange, metrics } = this.services;
    const id = uuidV7(this.createdAt);
    this.generationId = id;
    if (request.isStreamed) {
      this.client = client.openStream(id);
      metrics.openStreams.inc();
      this.stops.push(() => metrics.openStreams.dec());
    }
    const routed = await router.run(route, this.attempting, (target) => {
      this.sentAt = performance.now();
      return exchange.begin(target, {
        request,
        accountId: route.accountId,
        client: this.client,
        deadline: this.deadline,
        maxOutputTokens: (to) =>
          sentOutputLimit(request, to.endpoint, this.boundedCall().defaultOutputTokens),
        identity: (of) => this.identityOf(of),
        onDisconnect: (from) => this.disconnects.decide(from),
        onGone: (listener) => client.onGone(listener),
        onFirstContent: () => (this.firstContentAt ??= performance.now()),
      });
    });
    const { begun } = routed;
    if (begun === null) return { route, routed, kind: 'failed', received: NO_ANSWER, error: routed.error };
    const finished = await this.services.answerEnds.of(begun.answer, {
      target: begun.target,
      deadline: this.deadline,
      cutKind: (of) => this.disconnects.cutKind(of),
    });
    const isBroken = finished.kind === 'failed';
    router.ended(begun, this.attempting, isBroken ? null : (finished.received.usage?.completionTokens ?? 0));
    return { route, routed, ...finished };
  }

  /**
   * Records the generation and replaces the reservation by the cost, in one commit. Throws when the record cannot be
   * committed.
   */
  async settle(executed: ExecutedChat): Promise<SettledChat> {
    const { call, services, spend } = this;
    const { caller, request, client } = call;
    const { accountId, workspaceId } = caller.key;
    const { routed, route, kind, received, error } = executed;
    const [first] = route.targets;
    const target = routed.begun?.target ?? first;
    if (!target || this.generationId === null) throw new AppError('internal');
    const bounded = this.boundedCall();
    const seconds = (performance.now() - this.sentAt) / 1_000;
    const { size } = bounded;
    const facts = { request, size, target, outputBound: outputBound(bounded, target.endpoint), seconds };
    const pace = services.yieldQueue.begin(accountId);
    const usage = await usageOf(kind, received, facts, pace);
    const isCancelled = client.isGone;
    const charged = chargeOfRun(executed, target, usage, bounded, spend.bound);
    if (charged.charge.unpaid.length > 0)
      services.unpaid.record(accountId, this.generationId, charged.charge.unpaid);
    const durationMs = Math.round(performance.now() - call.receivedAt);
    const firstTokenMs = this.firstContentAt === null ? null : this.firstContentAt - call.receivedAt;
    const { attempts } = this.attempting;
    const served = routed.begun ? [routed.begun] : [];
    Object.assign(this.progress, {
      route,
      routed: { attempts, passedOver: routed.passedOver, error, served },
      durationMs,
    });
    const settled = { ...executed, target, usage, charged };
    services.metrics.settled({
      provider: target.provider.slug,
      source: charged.source,
      durationMs,
      isCancelled,
      isSlowReader: this.client?.gone === 'slow_reader',
      isConsistent: usage.isConsistent,
      isOverrun: charged.overrun !== null,
      droppedMembers: routed.begun?.answer.droppedMembers.length ?? 0,
      firstTokenMs,
      tokensPerSecond: charged.completionTokens / seconds,
    });
    const generation = describeChat(
      { id: this.generationId, createdAt: this.createdAt, durationMs },
      {
        call,
        size,
        target,
        hasBegun: routed.begun !== null,
        attempts,
        received,
        settled: usage,
        charged,
        error,
        isCancelled,
        hasNoStatus: isCancelled && this.client?.hasSentHeaders !== true,
        timeToFirstTokenMs: firstTokenMs === null ? null : Math.round(firstTokenMs),
      },
    );
    const content = await services.publisher.contentToStore(workspaceId, () =>
      contentOfChat(request, received.choices, error?.message ?? null),
    );
    await services.log.append(generation, spend.releases, content);
    services.publisher.generationAppended(workspaceId);
    return settled;
  }

  /** Frees all that the run holds. A lease whose part went to the log stays reduced, even if the commit is uncertain. */
  close(): void {
    for (const stop of this.stops.splice(0)) stop();
    this.spend.close();
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
    if (this.bounded === null) throw new AppError('internal');
    return this.bounded;
  }
}
