// The charge of one chat call, from its answer and its reservation (docs/contract.md#chat-spend).
import { normaliseChatUsage } from '../../domain/chat/chat-usage.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { endpointName } from '../../routing/endpoint-target.js';
import type { ChatTarget } from '../../routing/endpoint-target.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import { greatestChatCost } from '../charges/chat-bound.js';
import { chargeForChat, withWasted } from '../charges/chat-charge.js';
import type { ChatCharge, ChatEnding, ServedChat, WastedAttempt } from '../charges/chat-charge.js';
import { imagesOf } from '../charges/prompt-size.js';
import type { EndingKind, SettledUsage } from './chat-ending.js';
import type { ExecutedChat } from './executed-chat.js';

const OUTCOMES: Readonly<Record<EndingKind, ChatEnding['outcome']>> = {
  complete: 'answered',
  failed: 'failed',
  cut: 'cancelled',
  unknown: 'cancelled',
};

/** The usage that an endpoint reported before its attempt failed. */
export interface FailedUsage {
  readonly target: ChatTarget;
  readonly usage: ReportedChatUsage;
  readonly serviceTier: string | null;
}

/**
 * `reserved`: the sum of the call's reservations; null where no limit applies. The call's bound at the endpoint limits the
 * charge then, so that no report costs more than the call can.
 */
export function chargeOfRun(
  executed: ExecutedChat,
  target: ChatTarget,
  usage: SettledUsage,
  bounded: ReservedCall,
  reserved: SpendBound | null,
  failed: readonly FailedUsage[],
): ChatCharge {
  const { request, size, from } = bounded;
  const { serviceTier, cacheWriteTtl } = request;
  const served = executed.routed.begun && servedChat(executed, target, usage);
  const priced = { serviceTier, cacheWriteTtl, images: imagesOf(size), pricedAt: from };
  const most = reserved ?? boundAt(target, bounded);
  const charged = chargeForChat({ served, outcome: OUTCOMES[executed.kind] }, priced, most);
  return withWasted(charged, failed.flatMap(wastedAttempt), priced);
}

/** Null where no price is known. */
function boundAt({ endpoint }: ChatTarget, bounded: ReservedCall): SpendBound | null {
  const cost = greatestChatCost(bounded, endpoint);
  return cost === null ? null : { cost, costWithByok: cost };
}

/** Nothing for an own provider key, whose owner the provider bills, and for a report that cannot be used. */
function wastedAttempt({ target, usage: reported, serviceTier }: FailedUsage): WastedAttempt[] {
  const normalised = target.credential === null ? normaliseChatUsage(reported) : null;
  if (normalised === null) return [];
  const { endpoint, provider } = target;
  const { usage } = normalised;
  return [{ endpoint, provider: provider.slug, endpointName: endpointName(target), usage, serviceTier }];
}

function servedChat(
  { received: { choices, serviceTier } }: ExecutedChat,
  target: ChatTarget,
  { usage, source }: SettledUsage,
): ServedChat {
  return {
    endpoint: target.endpoint,
    provider: target.provider.slug,
    endpointName: endpointName(target),
    isByok: target.credential !== null,
    usage,
    source,
    hasFinished: (choices[0]?.finishReason ?? null) !== null,
    serviceTier,
  };
}
