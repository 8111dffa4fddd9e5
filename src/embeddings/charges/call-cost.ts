// What a call did cost, and who pays for it.
import { costOfTokens, greatestCost } from '../../catalogue/input-cost.js';
import { isCertainlyWithin, tokenBound, tokensWithoutUsage } from '../../catalogue/token-count.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import type { AppError, ErrorCode } from '../../domain/errors.js';
import { MAX_TOKENS } from '../../domain/generations/generation.js';
import { addTokens, modalitiesOf } from '../../domain/embeddings/modality.js';
import type { TokensByModality } from '../../domain/embeddings/modality.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { addedBytes } from '../../routing/billed-members.js';
import type { BilledSlice, RoutedCall } from '../../routing/embedding-router.js';
import { endpointName } from '../../routing/endpoints/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoints/endpoint-target.js';

export interface Charge {
  /** Those that are paid for: never more than the bound of the inputs, whatever a provider reports. */
  readonly promptTokens: number;
  readonly totalTokens: number;
  /** Null where it is not known of every token what it is of. */
  readonly tokensByModality: TokensByModality | null;
  /** What the caller pays; null where no price is known: an unknown price is never counted as 0. */
  readonly cost: PicoUsd | null;
  /**
   * What providers charge: for failed calls, for broken answers and beyond the bound as well. Of a call through own keys
   * it is what they charge their owner for what they served, up to the bound: slices that the operator's keys served are
   * in `cost` alone.
   */
  readonly upstreamCost: PicoUsd | null;
  readonly isByok: boolean;
  readonly unpaid: readonly UnpaidCost[];
}

export type UnpaidReason =
  /** More than the inputs can have. */
  | 'over_reported'
  /** For an answer that could not be used. */
  | 'broken_answer'
  /** For parts of a call that failed by no fault of its caller. */
  | 'failed_call';

/** What a provider charges and the caller does not pay. */
export interface UnpaidCost {
  readonly provider: string;
  /** As the log names it. */
  readonly endpoint: string;
  readonly reason: UnpaidReason;
  /** Whether an own provider key was billed, and so its owner instead of the operator. */
  readonly isOwn: boolean;
  /** Null where no price is known. */
  readonly amount: PicoUsd | null;
  readonly reportedTokens: number;
}

const NOTHING_UNPAID: readonly UnpaidCost[] = [];

// 402 and 403: the money for the rest was not there.
const CALLERS_OWN: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'not_found',
  'payload_too_large',
  'insufficient_credits',
  'budget_exceeded',
]);

/** Whether the caller pays for what was served before the call failed (docs of POST /embeddings). */
function isCallersOwn({ code }: AppError): boolean {
  return CALLERS_OWN.has(code);
}

/**
 * Sums up what was served, at the prices of the day that its bounds were computed for: a price that rises meanwhile must
 * not make it dearer than what was reserved. The caller pays at most what its inputs can cost, and never more than what
 * was reserved (null: nothing); the operator pays the rest. Of a failed call the caller pays what was served where the
 * failure is its own, and else nothing.
 */
export async function chargeFor(
  routed: RoutedCall,
  request: EmbeddingRequest,
  priceDay: string,
  reserved: SpendBound | null,
): Promise<Charge> {
  const isPaid = routed.error === null || isCallersOwn(routed.error);
  const unpaid = new UnpaidList();
  let promptTokens = 0;
  let totalTokens = 0;
  let tokensByModality: TokensByModality | null = {};
  let paid: PicoUsd | null = 0n;
  let reported: PicoUsd | null = 0n;
  let own: PicoUsd | null = 0n;
  let isByok = false;
  const added = addedBytesOf(request);
  for (const slice of routed.served) {
    const { target, input } = slice;
    const addedToEach = added(target);
    const counted = reportedTokens(slice) ?? (await tokensWithoutUsage(input, target.endpoint, addedToEach));
    const bill = billOf(slice, counted, addedToEach, priceDay);
    // Slices may each count as much as a record can hold: none is lost for their sum.
    promptTokens = Math.min(promptTokens + bill.promptTokens, MAX_TOKENS);
    totalTokens = Math.min(totalTokens + bill.totalTokens, MAX_TOKENS);
    tokensByModality =
      tokensByModality && bill.tokensByModality && addTokens(tokensByModality, bill.tokensByModality);
    // Through an own provider key the provider's bill goes to the customer, and nothing to this account.
    if (target.credential !== null) {
      isByok = true;
      own = add(own, bill.cost);
    } else {
      reported = add(reported, bill.reported);
      paid = add(paid, isPaid ? bill.cost : 0n);
      if (!isPaid) unpaid.add(slice, 'failed_call', bill.reported);
    }
    if (bill.isOverReported && (isPaid || target.credential !== null))
      unpaid.add(slice, 'over_reported', difference(bill.reported, bill.cost));
  }
  for (const slice of routed.wasted) {
    const { target, input, tokensByModality: byModality = {} } = slice;
    // What the owner of an own key pays counts towards limits, which have reserved one answer to each input.
    if (target.credential !== null) continue;
    const addedToEach = added(target);
    const counted = reportedTokens(slice) ?? (await tokensWithoutUsage(input, target.endpoint, addedToEach));
    const amount = costOfTokens(input, counted, byModality, target.endpoint, priceDay, addedToEach);
    reported = add(reported, amount);
    unpaid.add(slice, 'broken_answer', amount);
  }
  if (reserved !== null) {
    const most = atMost(paid, reserved.cost);
    if (most !== paid) unpaid.addRest(routed, difference(paid, most));
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
    cost: paid,
    upstreamCost,
    isByok,
    unpaid: unpaid.costs,
  };
}

interface SliceBill {
  readonly promptTokens: number;
  readonly totalTokens: number;
  readonly tokensByModality: TokensByModality | null;
  /** At most what the inputs can cost. */
  readonly cost: PicoUsd | null;
  /** As the provider counts. */
  readonly reported: PicoUsd | null;
  readonly isOverReported: boolean;
}

function billOf(slice: BilledSlice, counted: number, added: number, day: string): SliceBill {
  const { target, input, tokensByModality: byModality } = slice;
  const { endpoint } = target;
  const total = slice.totalTokens ?? counted;
  const reported = costOfTokens(input, counted, byModality ?? {}, endpoint, day, added);
  // Nearly every report is of fewer tokens than its texts have characters: no bound has to be computed for those.
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
  // A modality that the input does not have, or whose price is not known, must not make the call free of charge.
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

/** Of the slices of one call, most are served by one provider. */
function addedBytesOf(request: EmbeddingRequest): (target: EndpointTarget) => number {
  let last: { readonly provider: EndpointTarget['provider']; readonly bytes: number } | null = null;
  return ({ provider }) => {
    if (last?.provider !== provider) last = { provider, bytes: addedBytes(provider, request) };
    return last.bytes;
  };
}

class UnpaidList {
  private list: UnpaidCost[] | null = null;

  /** Hardly any call has one. */
  get costs(): readonly UnpaidCost[] {
    return this.list ?? NOTHING_UNPAID;
  }

  add(slice: BilledSlice, reason: UnpaidReason, amount: PicoUsd | null): void {
    const { target } = slice;
    // Nothing was lost, and nothing was reported beyond a bound.
    if (amount === 0n && reason !== 'over_reported') return;
    this.list ??= [];
    this.list.push({
      provider: target.provider.slug,
      endpoint: endpointName(target),
      reason,
      isOwn: target.credential !== null,
      amount,
      reportedTokens: reportedTokens(slice) ?? 0,
    });
  }

  /** What was reserved was less than the bounds of the slices: it was counted, and they are estimates. */
  addRest({ served }: RoutedCall, amount: PicoUsd | null): void {
    const slice = served.find(({ target }) => target.credential === null);
    if (slice) this.add(slice, 'over_reported', amount);
  }
}

function reportedTokens({ promptTokens, totalTokens }: BilledSlice): number | null {
  return promptTokens ?? totalTokens;
}

/** Null where the input has several: which of them the tokens are of is not known then. */
function tokensOfOneModality(input: EmbeddingInput, tokens: number): TokensByModality | null {
  const [modality, ...others] = modalitiesOf(input);
  return modality === undefined || others.length > 0 ? null : { [modality]: tokens };
}

function add(sum: PicoUsd | null, amount: PicoUsd | null): PicoUsd | null {
  return sum === null || amount === null ? null : sum + amount;
}

function atMost(amount: PicoUsd | null, most: PicoUsd | null): PicoUsd | null {
  if (amount === null || most === null) return amount;
  const bound = most > 0n ? most : 0n;
  return amount < bound ? amount : bound;
}

function difference(more: PicoUsd | null, less: PicoUsd | null): PicoUsd | null {
  return more === null || less === null ? null : more - less;
}
