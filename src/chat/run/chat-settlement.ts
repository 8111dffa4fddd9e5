// The settlement of one chat call: its usage, its charge and its record (docs/contract.md#chat-spend).
import { pricedBy } from '../../catalogue/catalogue-model.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import { wireOf } from '../../domain/chat/chat-request.js';
import { AppError } from '../../domain/errors.js';
import type { Generation } from '../../domain/generations/generation.js';
import { utcDay } from '../../domain/spend/spend.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { endpointName, protocolOf } from '../../routing/endpoint-target.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { SettledCall } from '../chat-metrics.js';
import { greatestChatCost } from '../charges/chat-bound.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import { chargeForChat, unpricedUses, withWasted } from '../charges/chat-charge.js';
import type { ChatCharge, ServedChat, WastedAttempt } from '../charges/chat-charge.js';
import { imagesOf } from '../charges/prompt-size.js';
import { usageOf } from './call-usage.js';
import type { SettledUsage } from './call-usage.js';
import { describeChat } from './chat-record.js';
import type { ChatState, EndedAttempt } from './chat-state.js';
import type { ExecutedChat } from './executed-chat.js';

export interface SettledChat extends ExecutedChat {
  readonly target: ChatTarget;
  readonly usage: SettledUsage;
  readonly charged: ChatCharge;
}

export interface Settlement {
  readonly settled: SettledChat;
  readonly generation: Generation;
  readonly measured: SettledCall;
}

/** `reserved`: the sum of the call's reservations; null where no limit applies. */
export async function settlementOf(
  executed: ExecutedChat,
  state: ChatState,
  reserved: SpendBound | null,
  pace: Pace,
): Promise<Settlement> {
  const { call, generationId, createdAt, countedFrom, client, firstContentAt, bound } = state;
  const { routed, route, ending, received, error } = executed;
  const target = routed.begun?.target ?? route.targets[0];
  if (!target || generationId === null) throw new AppError('internal');
  const now = performance.now();
  const seconds = state.secondsSinceSent;
  const last = { target, ending, received, seconds };
  const usage = await usageOfAttempt(last, state, pace);
  const wasted: WastedAttempt[] = [];
  for (const attempt of state.ended) wasted.push(...(await wastedAttempt(attempt, state, pace)));
  const charged = chargeOf(executed, target, usage, bound, reserved, wasted);
  const isCancelled = ending === 'caller_left' || ending === 'caller_too_slow';
  const generation = describeChat(
    { id: generationId, createdAt, durationMs: Math.round(now - countedFrom) },
    {
      call,
      size: bound.size,
      target,
      hasBegun: routed.begun !== null,
      headerId: routed.begun?.upstreamId ?? null,
      attempts: state.attempts,
      received,
      settled: usage,
      charged,
      pricing: pricedBy(route.catalogueVersion, routed.begun?.target.endpoint, utcDay(bound.from)),
      error,
      isCancelled,
      hasNoStatus: isCancelled && client?.hasSentHeaders !== true,
      timeToFirstTokenMs: firstContentAt === null ? null : Math.round(firstContentAt - countedFrom),
    },
  );
  const measured = {
    provider: target.provider.slug,
    clientWire: wireOf(call.request),
    providerWire: protocolOf(target),
    ending,
    source: charged.source,
    durationMs: Math.round(now - call.receivedAt),
    isConsistent: usage.isConsistent,
    isOverrun: charged.overrun !== null,
    ceilingCost: routed.begun?.target.endpoint.hasCeiling ? (charged.charge.cost ?? 0n) : 0n,
    unpricedUses: target.credential === null ? unpricedUses({ ...target, usage: usage.usage }) : 0,
    droppedMembers: routed.begun?.droppedMembers ?? [],
    firstTokenMs: firstContentAt === null ? null : firstContentAt - call.receivedAt,
    tokensPerSecond: charged.completionTokens / seconds,
  };
  return { settled: { ...executed, target, usage, charged }, generation, measured };
}

/**
 * Without a reservation the call's bound at the endpoint limits the charge, so that no report costs more than the call can.
 */
export function chargeOf(
  { routed, ending, received }: Pick<ExecutedChat, 'routed' | 'ending' | 'received'>,
  target: ChatTarget,
  { usage, source }: SettledUsage,
  bounded: ReservedCall,
  reserved: SpendBound | null,
  wasted: readonly WastedAttempt[],
): ChatCharge {
  const { request, size, from } = bounded;
  const { serviceTier, cacheWriteTtl } = request;
  const served: ServedChat | null = routed.begun && {
    endpoint: target.endpoint,
    provider: target.provider.slug,
    endpointName: endpointName(target),
    isByok: target.credential !== null,
    usage,
    source,
    hasFinished: (received.choices[0]?.finishReason ?? null) !== null,
    serviceTier: received.serviceTier,
  };
  const priced = { serviceTier, cacheWriteTtl, images: imagesOf(size), pricedAt: from };
  const charged = chargeForChat({ served, ending }, priced, reserved ?? boundAt(target, bounded));
  return withWasted(charged, wasted, priced);
}

/** Null where no price is known. */
function boundAt({ endpoint }: ChatTarget, bounded: ReservedCall): SpendBound | null {
  const cost = greatestChatCost(bounded, endpoint);
  return cost === null ? null : { cost, costWithByok: cost };
}

/** Nothing for an own provider key, whose owner the provider bills, and for a report that cannot be used. */
async function wastedAttempt(
  attempt: EndedAttempt,
  state: ChatState,
  pace: Pace,
): Promise<readonly WastedAttempt[]> {
  const { target, ending, received } = attempt;
  const { endpoint, provider, credential } = target;
  if (credential !== null) return [];
  const { usage, source } = await usageOfAttempt(attempt, state, pace);
  if (source === 'none') return [];
  const { serviceTier } = received;
  const names = { endpoint, provider: provider.slug, endpointName: endpointName(target) };
  return [{ ...names, usage, serviceTier, ending }];
}

function usageOfAttempt(attempt: EndedAttempt, state: ChatState, pace: Pace): Promise<SettledUsage> {
  const { request, bound } = state;
  const { target, ending, received, seconds } = attempt;
  const outputBound = state.outputBoundAt(target);
  const hidesTokens = state.hidesTokens(attempt);
  const facts = { request, size: bound.size, target, outputBound, seconds, hidesTokens };
  return usageOf(ending, received, facts, pace);
}
