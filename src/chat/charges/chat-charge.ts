// Settles a chat call: the caller's charge, at most the bound of the call, and the provider's bill (docs/contract.md#chat-spend).
import { chatPricesOn, utcMinute } from '../../catalogue/chat-prices.js';
import type { EffectiveChatPrices } from '../../catalogue/chat-prices.js';
import { searchesWeb } from '../../domain/chat/chat-model.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatUsage, UsageSource } from '../../domain/chat/chat-usage.js';
import { ruleOf } from '../../domain/ending.js';
import type { Ending } from '../../domain/ending.js';
import type { Charge, UnpaidReason } from '../../domain/spend/charge.js';
import { atMost, difference } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { utcDay } from '../../domain/spend/spend.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { UnpaidCostList } from '../../spend/unpaid-cost-list.js';
import { chatCost, NO_CHAT_COST } from './chat-cost.js';
import type { ChatCost } from './chat-cost.js';

export interface EndedChat {
  /** Null: no endpoint has begun an answer. */
  readonly served: ServedChat | null;
  readonly ending: Ending;
}

export interface ServedChat {
  readonly endpoint: ChatEndpoint;
  /** As the log names both. */
  readonly provider: string;
  readonly endpointName: string;
  /** Through an own provider key: its owner pays the provider. */
  readonly isByok: boolean;
  readonly usage: ChatUsage;
  readonly source: UsageSource;
  /** Whether the first choice has a finish reason. */
  readonly hasFinished: boolean;
  /** The service tier of the answer; null: it names none. */
  readonly serviceTier: string | null;
}

/** Facts of the request that change the price. */
export interface PricedRequest {
  readonly serviceTier: string | null;
  readonly cacheWriteTtl: '5m' | '1h' | null;
  readonly images: number;
  /** The moment whose prices hold for the whole call. */
  readonly pricedAt: Date;
}

export interface ChatCharge {
  readonly charge: Charge;
  /** Null where no price is known. */
  readonly cost: ChatCost | null;
  readonly source: UsageSource;
  readonly completionTokens: number;
  /** The part of the cost above the bound; null: none. */
  readonly overrun: PicoUsd | null;
}

const NOTHING: Charge = {
  promptTokens: 0,
  totalTokens: 0,
  tokensByModality: null,
  isEstimated: false,
  cost: 0n,
  upstreamCost: 0n,
  isByok: false,
  unpaid: [],
};

/** `bound`: the reservation, else the greatest cost at the endpoint; null where no price is known. */
export function chargeForChat(
  { served, ending }: EndedChat,
  request: PricedRequest,
  bound: SpendBound | null,
): ChatCharge {
  if (served === null)
    return { charge: NOTHING, cost: NO_CHAT_COST, source: 'none', completionTokens: 0, overrun: null };
  const prices = pricesOf(served, request);
  const { images, cacheWriteTtl } = request;
  const { usage, isByok } = served;
  const cost = prices && chatCost(prices, { usage, images, cacheWriteTtl });
  const most = bound && (isByok ? bound.costWithByok : bound.cost);
  if (isFree(served, ending)) return free(served, ending, cost, most);
  const total = cost && cost.total;
  const paid = atMost(total, most);
  const overrun = paid === total ? null : difference(total, paid);
  const unpaid = overrun === null ? [] : [...unpaidCosts(served, 'over_reported', overrun)];
  if (unpricedUses(served) > 0) unpaid.push(...unpaidCosts(served, 'over_reported', null));
  return {
    charge: {
      promptTokens: usage.promptTokens,
      totalTokens: usage.promptTokens + usage.completionTokens,
      tokensByModality: null,
      isEstimated: served.source === 'estimated',
      cost: isByok ? 0n : paid,
      upstreamCost: isByok ? paid : total,
      isByok,
      unpaid,
    },
    cost,
    source: served.source,
    completionTokens: usage.completionTokens,
    overrun,
  };
}

/** Uses of the provider's own tools that no price of the catalogue covers. */
export function unpricedUses({ endpoint, usage }: Pick<ServedChat, 'endpoint' | 'usage'>): number {
  return usage.providerToolUses - (searchesWeb(endpoint) ? usage.webSearches : 0);
}

/** An attempt that ended before its answer began, and that its provider bills to the operator. */
export interface WastedAttempt extends Pick<
  ServedChat,
  'endpoint' | 'provider' | 'endpointName' | 'usage' | 'serviceTier'
> {
  readonly ending: Ending;
}

/** The operator's bill includes attempts that failed. The caller pays for none of them. */
export function withWasted(
  charged: ChatCharge,
  wasted: readonly WastedAttempt[],
  request: PricedRequest,
): ChatCharge {
  if (wasted.length === 0) return charged;
  const { charge } = charged;
  let bill: PicoUsd | null = 0n;
  const unpaid = [...charge.unpaid];
  for (const attempt of wasted) {
    const prices = pricesOf(attempt, request);
    const amount = prices && chatCost(prices, { ...request, usage: attempt.usage }).total;
    bill = bill === null || amount === null ? null : bill + amount;
    unpaid.push(...unpaidCosts({ ...attempt, isByok: false }, ruleOf(attempt.ending).unpaid, amount));
  }
  // Through an own provider key the bill is its owner's.
  if (charge.isByok) return { ...charged, charge: { ...charge, unpaid } };
  const upstreamCost = charge.upstreamCost === null || bill === null ? null : charge.upstreamCost + bill;
  return { ...charged, charge: { ...charge, upstreamCost, unpaid } };
}

/** An answer of nothing costs its caller nothing, unless the caller has ended it. */
function isFree({ usage, hasFinished }: ServedChat, ending: Ending): boolean {
  if (ending === 'completed') return usage.completionTokens === 0 && !hasFinished;
  return !ruleOf(ending).isCharged;
}

/**
 * The operator sees the bill, reported or estimated. The reported bill of an own key counts towards limits that include own
 * keys: at most `most`.
 */
function free(served: ServedChat, ending: Ending, cost: ChatCost | null, most: PicoUsd | null): ChatCharge {
  const { isByok, source } = served;
  const isBilled = source === 'reported' || (source !== 'none' && !isByok);
  const bill = isBilled ? (cost?.total ?? null) : 0n;
  const unpaid = bill === 0n ? [] : unpaidCosts(served, ruleOf(ending).unpaid, bill);
  const charge = { ...NOTHING, upstreamCost: isByok ? atMost(bill, most) : bill, isByok, unpaid };
  return { charge, cost: NO_CHAT_COST, source: 'none', completionTokens: 0, overrun: null };
}

/** By the tier of the answer, or of the request where the answer's has no price. */
function pricesOf(
  { endpoint, usage, serviceTier }: Pick<ServedChat, 'endpoint' | 'usage' | 'serviceTier'>,
  { pricedAt, serviceTier: requestedTier }: PricedRequest,
): EffectiveChatPrices | null {
  const day = utcDay(pricedAt);
  const moment = { promptTokens: usage.promptTokens, minuteOfDay: utcMinute(pricedAt) };
  const tiers = serviceTier === null ? [requestedTier] : [serviceTier, requestedTier];
  for (const tier of tiers) {
    const prices = chatPricesOn(endpoint, day, { ...moment, serviceTier: tier });
    if (prices) return prices;
  }
  return null;
}

function unpaidCosts(
  {
    provider,
    endpointName,
    isByok,
    usage,
  }: Pick<ServedChat, 'provider' | 'endpointName' | 'isByok' | 'usage'>,
  reason: UnpaidReason,
  amount: PicoUsd | null,
): Charge['unpaid'] {
  const list = new UnpaidCostList();
  const reportedTokens = usage.promptTokens + usage.completionTokens;
  list.add({ provider, endpoint: endpointName, isOwn: isByok, reportedTokens }, reason, amount);
  return list.costs;
}
