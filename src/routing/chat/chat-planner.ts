// Decides which endpoints may serve a chat call, before any request is sent: hard members, preferences, prices and the
// caller's list of models (docs/contract.md#chat-routing).
import { Injectable } from '@nestjs/common';
import { chatPricesOn, utcMinute } from '../../catalogue/chat-prices.js';
import type { EffectiveChatPrices } from '../../catalogue/chat-prices.js';
import { Clock } from '../../domain/clock.js';
import type { ChatEndpoint, ChatModel } from '../../domain/chat/chat-model.js';
import { wireOf } from '../../domain/chat/chat-request.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { producerBehind } from '../../domain/chat/reasoning-producer.js';
import type { ProviderCredential } from '../../domain/providers/provider-credential.js';
import type { MaxPrices, ProviderPreferences, Sort } from '../../domain/providers/provider-preferences.js';
import { AppError } from '../../domain/errors.js';
import type { GuardedCaller } from '../../domain/keys/api-key.js';
import { utcDay } from '../../domain/spend/spend.js';
import type { SpendLimits } from '../../domain/spend/spend-limit.js';
import type { ChatProblem } from '../../providers/shared/chat-wire.js';
import { CredentialAccess } from '../credentials/credential-access.js';
import { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { filterCandidates, orderCandidates } from '../endpoints/endpoint-order.js';
import type { Candidate, OrderingContext } from '../endpoints/endpoint-order.js';
import { protocolOf, wireFor } from '../endpoint-target.js';
import type { ChatTarget, WireForCall } from '../endpoint-target.js';
import { refusalOf, withGuardrails, withinGuardrails } from '../guardrails/guardrails.js';
import { ProviderNames } from '../provider-names.js';
import { MovingAliases } from './moving-aliases.js';
import { madeBy, makerName, presetOf, ReasoningOrigins } from './reasoning-origins.js';
import type { BoundReasoning } from './reasoning-origins.js';
import { conversationOf, StickyRoutes } from './sticky-routes.js';
import { unpricedError, UnlistedModels } from './unlisted-models.js';
import { noAllowedProviders, unconfiguredError } from '../unreachable-models.js';

/** The endpoints that may serve a chat call, best first; at least one. */
export interface ChatRoute {
  readonly accountId: string;
  /** The newest stored revision of the catalogue that its prices come from. */
  readonly catalogueVersion: number;
  /** The version of the request's preset; null: none. */
  readonly preset: string | null;
  readonly targets: readonly ChatTarget[];
  /** Identifies the calls that stay at one endpoint; null: this one need not. */
  readonly conversation: string | null;
  /** Null: the history has no signed thought. Its origin is the target that gets those of unknown makers. */
  readonly reasoning: BoundReasoning | null;
}

export interface ChatPlan {
  readonly caller: GuardedCaller;
  readonly request: ChatRequest;
  /** The session id of the body, else of a header. */
  readonly sessionId: string | null;
  readonly preferences: ProviderPreferences;
  readonly limits: SpendLimits;
}

/** Its problems are computed once: they are the same for every credential. */
type PlannedTarget = ChatTarget & WireForCall;

interface PlannedCall extends Omit<ChatPlan, 'caller'>, GuardedCaller {
  readonly own: readonly ProviderCredential[] | null;
  readonly now: Date;
  readonly reasoning: BoundReasoning | null;
  /** Computed for a model with several endpoints. */
  conversation: string | null | undefined;
}

@Injectable()
export class ChatPlanner {
  constructor(
    private readonly models: MovingAliases,
    private readonly unlisted: UnlistedModels,
    private readonly names: ProviderNames,
    private readonly caller: EndpointCaller,
    private readonly health: EndpointHealthRegistry,
    private readonly access: CredentialAccess,
    private readonly clock: Clock,
    private readonly sticky: StickyRoutes,
    private readonly origins: ReasoningOrigins,
  ) {}

  /**
   * The endpoints of the first model come before those of the next one. A model without endpoints, or that a guardrail excludes,
   * is skipped while another has some; else the error is the first model's. Throws `not_found`, `no_allowed_providers`,
   * `guardrail_excluded` or `invalid_request`: the call then reaches no provider and is no generation.
   */
  async plan(plan: ChatPlan): Promise<ChatRoute> {
    const { request } = plan;
    const { key, guardrails } = plan.caller;
    const preferences = this.names.resolve(plan.preferences);
    const found = request.models.map((name) => ({
      name,
      ...(this.models.find(name) ?? this.unlisted.find(name, preferences.only)),
    }));
    const catalogueVersion = this.models.version;
    const own = await this.access.credentialsOf(key.workspaceId);
    const now = this.clock.now();
    const reasoning = this.origins.of(key.accountId, request);
    const resolved = { key, guardrails, preferences, own, now, reasoning };
    const call: PlannedCall = { ...plan, ...resolved, conversation: undefined };
    const targets: ChatTarget[] = [];
    let problem: AppError | null = null;
    for (const { name, model, sort, alias } of found) {
      try {
        const served = this.targetsOf(model, sort, call);
        targets.push(...(alias ? served.map((target) => ({ ...target, requestedModel: name })) : served));
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        problem ??= error;
      }
    }
    if (targets.length === 0) throw problem ?? new AppError('unavailable');
    // Without fallbacks only the first serves, or those that the caller has listed (the only ones left by then).
    const isOneOnly = !preferences.allowFallbacks && preferences.order.length === 0;
    const { conversation = null } = call;
    return {
      accountId: key.accountId,
      catalogueVersion,
      preset: presetOf(request),
      targets: isOneOnly ? targets.slice(0, 1) : targets,
      conversation,
      reasoning: reasoning && { ...reasoning, origin: reasoning.origin ?? likelyOrigin(targets, reasoning) },
    };
  }

  /** An endpoint of the route has begun its answer. */
  served({ conversation }: ChatRoute, target: ChatTarget): void {
    if (conversation !== null && target.credential === null)
      this.sticky.remember(conversation, target, performance.now());
  }

  /** An endpoint of the route has made signed thoughts. */
  thought({ accountId, preset }: ChatRoute, target: ChatTarget, signatures: readonly string[]): void {
    if (producerBehind(protocolOf(target)) !== null)
      this.origins.remember(accountId, signatures, target, preset);
  }

  private targetsOf(model: ChatModel, sort: Sort | null, call: PlannedCall): ChatTarget[] {
    const { key, request, own, preferences, guardrails } = call;
    const refusal = guardrails && refusalOf(guardrails, model);
    if (refusal) throw refusal;
    const chosen = { ...preferences, sort: preferences.sort ?? sort };
    const wire = wireOf(request);
    const priceOf = (endpoint: ChatEndpoint) => pricesNow(endpoint, request, call.now)?.prompt ?? null;
    const all = this.access.candidates(model, model.endpoints, key, own, priceOf);
    const usable = model.isUnlisted ? withCeiling(all, call) : all;
    if (usable.length === 0 && all.length > 0) throw unpricedError(model);
    const configured = withWires(usable, request);
    if (configured.length === 0) throw unconfiguredError(model, model.endpoints, this.caller);
    const able = withoutHardProblems(configured);
    const context: OrderingContext<PlannedTarget> = {
      now: performance.now(),
      random: () => this.health.random(),
      // In its own wire a client's bytes pass.
      isPreferred: (target) => protocolOf(target) === wire,
      supportsAllParameters: ({ problems }) => problems.length === 0,
      staysWithin: (bounds, { endpoint }) => staysWithin(bounds, pricesNow(endpoint, request, call.now)),
    };
    const permitted = withinGuardrails(able, guardrails);
    const left = filterCandidates(permitted, chosen, context);
    if (left.length === 0) throw withGuardrails(noAllowedProviders(permitted, preferences), guardrails, able);
    const priced = withKnownPrice(left, call);
    const ordered = orderCandidates(priced, chosen, context);
    const moment = { ...context, date: call.now };
    // The sort of a model's variant is the caller's choice as well.
    const conversation = ordered.length > 1 && !chosen.sort ? conversationIn(call) : null;
    const kept = conversation === null ? ordered : this.sticky.prefer(ordered, conversation, moment);
    const large = largeEnoughFirst(kept, request);
    const first = call.reasoning === null ? large : originFirst(large, call, context.now);
    return first.map(({ target }) => target);
  }
}

/**
 * Of a model that the catalogue does not have: the operator's credential at the ceiling alone. The cost of an own key that no limit
 * counts is unknown, and no ceiling stands in for it.
 */
function withCeiling(
  candidates: readonly Candidate<Omit<ChatTarget, 'wire'>>[],
  { request, limits: { isLimited, includesByok }, now }: PlannedCall,
): Candidate<Omit<ChatTarget, 'wire'>>[] {
  return candidates.flatMap((candidate) => {
    const { endpoint, credential } = candidate.target;
    if (credential === null) return pricesNow(endpoint, request, now) === null ? [] : [candidate];
    if (isLimited && includesByok) return [candidate];
    const { hasCeiling: _ceiling, ...unpriced } = endpoint;
    return [{ ...candidate, target: { ...candidate.target, endpoint: { ...unpriced, prices: [] } } }];
  });
}

function conversationIn(call: PlannedCall): string | null {
  const { key, sessionId, request, preferences } = call;
  const { accountId } = key;
  if (call.conversation === undefined)
    call.conversation = conversationOf({ accountId, sessionId, request }, preferences);
  return call.conversation;
}

/** Without those whose provider has no chat models. */
function withWires(
  candidates: readonly Candidate<Omit<ChatTarget, 'wire'>>[],
  request: ChatRequest,
): Candidate<PlannedTarget>[] {
  const wires = new Map<ChatEndpoint, WireForCall | undefined>();
  return candidates.flatMap((candidate) => {
    const { endpoint } = candidate.target;
    if (!wires.has(endpoint)) wires.set(endpoint, wireFor(request, candidate.target));
    const wire = wires.get(endpoint);
    return wire === undefined ? [] : [{ ...candidate, target: { ...candidate.target, ...wire } }];
  });
}

/** Throws `invalid_request` with the member that the last endpoint cannot honour. */
function withoutHardProblems(candidates: readonly Candidate<PlannedTarget>[]): Candidate<PlannedTarget>[] {
  let problem: ChatProblem | undefined;
  const left = candidates.filter(({ target: { problems } }) => {
    const hard = problems.find(({ isHard }) => isHard);
    problem = hard ?? problem;
    return hard === undefined;
  });
  if (left.length === 0 && problem)
    throw new AppError('invalid_request', { member: problem.at, detail: problem.rule });
  return left;
}

/** Calls that count toward a limit need a known price, unless an own key pays that no limit includes. */
function withKnownPrice(
  candidates: readonly Candidate<PlannedTarget>[],
  { request, limits, now }: PlannedCall,
): readonly Candidate<PlannedTarget>[] {
  const { isLimited, includesByok } = limits;
  if (!isLimited) return candidates;
  const left = candidates.filter(
    ({ target: { endpoint, credential } }) =>
      (credential !== null && !includesByok) || pricesNow(endpoint, request, now) !== null,
  );
  const id = candidates[0]?.target.model.id ?? '';
  if (left.length === 0)
    throw new AppError('not_found', {
      detail: `model: no endpoint of ${id} has a known price for this call, and calls that count toward a limit need one; use another model, an own provider key, or a key without a limit`,
    });
  return left;
}

function pricesNow(endpoint: ChatEndpoint, request: ChatRequest, now: Date): EffectiveChatPrices | null {
  const { serviceTier } = request;
  return chatPricesOn(endpoint, utcDay(now), { promptTokens: 0, minuteOfDay: utcMinute(now), serviceTier });
}

function staysWithin(bounds: MaxPrices, prices: EffectiveChatPrices | null): boolean {
  if (prices === null) return false;
  const { prompt, completion, request, perImage, audio } = bounds;
  const isWithin = (price: bigint, bound: bigint | undefined) => bound === undefined || price <= bound;
  return (
    isWithin(prices.prompt, prompt) &&
    isWithin(prices.completion, completion) &&
    isWithin(prices.request, request) &&
    isWithin(prices.image, perImage) &&
    isWithin(prices.audioInput, audio)
  );
}

/** Endpoints that can give as many tokens as the caller asks for come before those that give fewer. */
function largeEnoughFirst(
  candidates: readonly Candidate<ChatTarget>[],
  { maxOutputTokens }: ChatRequest,
): Candidate<ChatTarget>[] {
  if (maxOutputTokens === null) return [...candidates];
  const isShort = ({ target: { endpoint } }: Candidate<ChatTarget>) =>
    Number((endpoint.maxOutputTokens ?? endpoint.contextLength) < maxOutputTokens);
  return candidates.toSorted((one, other) => isShort(one) - isShort(other));
}

/** The maker of the earlier thoughts, whatever its price; else, where the caller chooses none, endpoints that read such thoughts. */
function originFirst(
  candidates: readonly Candidate<ChatTarget>[],
  { reasoning, preferences: { order, sort } }: PlannedCall,
  now: number,
): Candidate<ChatTarget>[] {
  const origin = reasoning?.origin ?? null;
  const isChosen = order.length > 0 || sort !== null;
  const comesFirst = (target: ChatTarget): boolean =>
    origin === null ? !isChosen && readsThoughts(target, reasoning) : madeBy(origin, target);
  const rank = ({ target, health }: Candidate<ChatTarget>) =>
    Number(health.isOpen(now) || !comesFirst(target));
  return candidates.toSorted((one, other) => rank(one) - rank(other));
}

function readsThoughts(target: ChatTarget, reasoning: BoundReasoning | null): boolean {
  const producer = producerBehind(protocolOf(target));
  return producer !== null && reasoning?.formats.has(producer.format) === true;
}

function likelyOrigin(targets: readonly ChatTarget[], reasoning: BoundReasoning): string | null {
  const first = targets.find((target) => readsThoughts(target, reasoning));
  return first ? makerName(first) : null;
}
