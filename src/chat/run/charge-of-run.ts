// The charge of one chat call, from its answer and its reservation (docs/contract.md#chat-spend).
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { endpointName } from '../../routing/endpoints/endpoint-target.js';
import type { ChatTarget } from '../../routing/endpoints/endpoint-target.js';
import type { ReservedCall } from '../charges/chat-bounds.js';
import { chargeForChat } from '../charges/chat-charge.js';
import type { ChatCharge, ChatEnding, ServedChat } from '../charges/chat-charge.js';
import { imagesOf } from '../charges/prompt-size.js';
import type { EndingKind, SettledUsage } from './chat-ending.js';
import type { ExecutedChat } from './executed-chat.js';

const OUTCOMES: Readonly<Record<EndingKind, ChatEnding['outcome']>> = {
  complete: 'answered',
  failed: 'failed',
  cut: 'cancelled',
  unknown: 'cancelled',
};

/** `bound`: the sum of the call's reservations; null where no limit applies. */
export function chargeOfRun(
  executed: ExecutedChat,
  target: ChatTarget,
  usage: SettledUsage,
  { request, size, from }: ReservedCall,
  bound: SpendBound | null,
): ChatCharge {
  const { serviceTier, cacheWriteTtl } = request;
  const served = executed.routed.begun && servedChat(executed, target, usage);
  const priced = { serviceTier, cacheWriteTtl, images: imagesOf(size), pricedAt: from };
  return chargeForChat({ served, outcome: OUTCOMES[executed.kind] }, priced, bound);
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
