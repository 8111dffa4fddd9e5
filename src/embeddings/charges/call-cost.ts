// The cost of a finished call, and who pays it.
import { costOfTokens, greatestCost } from '../../catalogue/input-cost.js';
import { isCertainlyWithin, tokenBound, tokensWithoutUsage } from '../../catalogue/token-count.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { MAX_TOKENS } from '../../domain/token-count.js';
import { addTokens, modalitiesOf } from '../../domain/embeddings/modality.js';
import type { TokensByModality } from '../../domain/embeddings/modality.js';
import type { Charge, UnpaidReason } from '../../domain/spend/charge.js';
import { add, atMost, difference } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { addedBytes } from '../../routing/billed-members.js';
import type { BilledSlice, RoutedCall } from '../../routing/routed-call.js';
import { endpointName } from '../../routing/endpoints/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoints/endpoint-target.js';
import { UnpaidCostList } from '../../spend/unpaid-cost-list.js';

/**
 * The sum of the served slices, at the prices of the day of the reservation: a later price could exceed it. The caller pays
 * at most the bound of its inputs, and at most the reservation (null: no limit); the operator pays the rest. For a failed
 * call the caller pays the served slices if the failure is its own, else nothing.
 */
export async function chargeFor(
  routed: RoutedCall,
  request: EmbeddingRequest,
  priceDay: string,
  reserved: SpendBound | null,
): Promise<Charge> {
  const isPaid = routed.error?.payer !== 'operator';
  const unpaid = new UnpaidCostList();
  let promptTokens = 0;
  let totalTokens = 0;
  let tokensByModality: TokensByModality | null = {};
  let paid: PicoUsd | null = 0n;
  let reported: PicoUsd | null = 0n;
  let own: PicoUsd | null = 0n;
  let isByok = false;
  let isEstimated = false;
  const added = addedBytesOf(request);
  for (const slice of routed.served) {
    // The record of an earlier call has the provider's bill.
    const { target, isKept = false } = slice;
    const addedToEach = added(target);
    const usage = reportedUsage(slice) ?? (await estimateUsage(slice, addedToEach));
    if (usage.isEstimated) isEstimated = true;
    const bill = billOf(slice, usage, addedToEach, priceDay);
    // Each slice may count as many tokens as a record can hold.
    promptTokens = Math.min(promptTokens + bill.promptTokens, MAX_TOKENS);
    totalTokens = Math.min(totalTokens + bill.totalTokens, MAX_TOKENS);
    tokensByModality =
      tokensByModality && bill.tokensByModality && addTokens(tokensByModality, bill.tokensByModality);
    // Through an own provider key the provider bills its owner.
    if (target.credential !== null) {
      isByok = true;
      own = add(own, isKept ? 0n : bill.cost);
    } else {
      reported = add(reported, isKept ? 0n : bill.reported);
      paid = add(paid, isPaid ? bill.cost : 0n);
      if (!isPaid && !isKept) addUnpaid(unpaid, slice, 'failed_call', bill.reported);
    }
    if (bill.isOverReported && !isKept && (isPaid || target.credential !== null))
      addUnpaid(unpaid, slice, 'over_reported', difference(bill.reported, bill.cost));
  }
  for (const slice of routed.wasted) {
    const { target, input } = slice;
    // Limits have reserved one answer for each input of an own key.
    if (target.credential !== null) continue;
    const addedToEach = added(target);
    const { tokens, byModality = {} } = reportedUsage(slice) ?? (await estimateUsage(slice, addedToEach));
    const amount = costOfTokens(input, tokens, byModality, target.endpoint, priceDay, addedToEach);
    reported = add(reported, amount);
    addUnpaid(unpaid, slice, 'broken_answer', amount);
  }
  if (reserved !== null) {
    const most = atMost(paid, reserved.cost);
    const shared = routed.served.find(({ target }) => target.credential === null);
    // Reservations may count tokens, and bounds of slices estimate them: the sum of the bounds may be more.
    if (most !== paid && shared) addUnpaid(unpaid, shared, 'over_reported', difference(paid, most));
    paid = most;
    own = atMost(own, reserved.costWithByok - (paid ?? 0n));
  }
  const upstreamCost = isByok ? own : reported;
  if (!isPaid) {
    promptTokens = 0;
    totalTokens = 0;
  }
  if (routed.error) tokensByModality = null;
  return {
    promptTokens,
    totalTokens,
    tokensByModality,
    isEstimated: isEstimated && routed.error === null,
    cost: paid,
    upstreamCost,
    isByok,
    unpaid: unpaid.costs,
  };
}

/** The provider's report, or an estimate. */
interface SliceUsage {
  readonly tokens: number;
  readonly byModality?: TokensByModality | undefined;
  readonly isEstimated: boolean;
}

function reportedUsage(slice: BilledSlice): SliceUsage | null {
  const tokens = reportedTokens(slice);
  return tokens === null ? null : { tokens, byModality: slice.tokensByModality, isEstimated: false };
}

/** Texts are counted or estimated by their length; they are not marked, because their count hardly differs. */
async function estimateUsage({ target, input }: BilledSlice, added: number): Promise<SliceUsage> {
  const { tokens, byModality } = await tokensWithoutUsage(input, target.endpoint, added);
  if (input.form !== 'multimodal') return { tokens, isEstimated: false };
  const isEstimated = modalitiesOf(input).some((modality) => modality !== 'text');
  return { tokens, byModality: byModality ?? undefined, isEstimated };
}

interface SliceBill {
  readonly promptTokens: number;
  readonly totalTokens: number;
  readonly tokensByModality: TokensByModality | null;
  /** At most the bound of the inputs. */
  readonly cost: PicoUsd | null;
  /** By the provider's count. */
  readonly reported: PicoUsd | null;
  readonly isOverReported: boolean;
}

function billOf(
  slice: BilledSlice,
  { tokens: counted, byModality }: SliceUsage,
  added: number,
  day: string,
): SliceBill {
  const { target, input } = slice;
  const { endpoint } = target;
  const total = slice.totalTokens ?? counted;
  const reported = costOfTokens(input, counted, byModality ?? {}, endpoint, day, added);
  // Nearly every report has fewer tokens than its texts have characters, and needs no bound.
  if (byModality === undefined && isCertainlyWithin(input, endpoint, Math.max(counted, total))) {
    return {
      promptTokens: counted,
      totalTokens: total,
      tokensByModality: tokensOfOneModality(input, counted),
      cost: reported,
      reported,
      isOverReported: false,
    };
  }
  const bound = tokenBound(input, endpoint, added);
  const greatest = greatestCost(input, endpoint, day, added);
  const isReported = byModality !== undefined && isOfInput(byModality, input) && reported !== null;
  // A modality that the input does not have, or without a known price, must not make the call free.
  const billed = isReported
    ? reported
    : costOfTokens(input, Math.min(counted, bound), {}, endpoint, day, added);
  const cost = atMost(billed, greatest);
  const isBeyond = counted > bound || (reported !== null && cost !== null && reported > cost);
  return {
    promptTokens: Math.min(counted, bound),
    totalTokens: Math.min(total, bound),
    tokensByModality: isBeyond ? null : (byModality ?? tokensOfOneModality(input, counted)),
    cost,
    reported: reported ?? cost,
    isOverReported: isBeyond,
  };
}

function isOfInput(byModality: TokensByModality, input: EmbeddingInput): boolean {
  const possible: readonly string[] = modalitiesOf(input);
  return Object.entries(byModality).every(([modality, count]) => count === 0 || possible.includes(modality));
}

/** Remembers one provider: it serves most slices of a call. */
function addedBytesOf(request: EmbeddingRequest): (target: EndpointTarget) => number {
  let last: { readonly provider: EndpointTarget['provider']; readonly bytes: number } | null = null;
  return ({ provider }) => {
    if (last?.provider !== provider) last = { provider, bytes: addedBytes(provider, request) };
    return last.bytes;
  };
}

function addUnpaid(
  unpaid: UnpaidCostList,
  slice: BilledSlice,
  reason: UnpaidReason,
  amount: PicoUsd | null,
): void {
  const { target } = slice;
  const bill = {
    provider: target.provider.slug,
    endpoint: endpointName(target),
    isOwn: target.credential !== null,
    reportedTokens: reportedTokens(slice) ?? 0,
  };
  unpaid.add(bill, reason, amount);
}

function reportedTokens({ promptTokens, totalTokens }: BilledSlice): number | null {
  return promptTokens ?? totalTokens;
}

/** Null where the input has several modalities. */
function tokensOfOneModality(input: EmbeddingInput, tokens: number): TokensByModality | null {
  const [modality, ...others] = modalitiesOf(input);
  return modality === undefined || others.length > 0 ? null : { [modality]: tokens };
}
