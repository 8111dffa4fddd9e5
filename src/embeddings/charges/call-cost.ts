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
import type { BilledSlice, RoutedCall, ServedSlice, WastedSlice } from '../../routing/routed-call.js';
import { endpointName } from '../../routing/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoint-target.js';
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
  const sum = new ChargeSum(routed, addedBytesOf(request), priceDay);
  for (const slice of routed.served) await sum.addServed(slice);
  for (const slice of routed.wasted) await sum.addWasted(slice);
  if (reserved !== null) sum.boundBy(reserved);
  return sum.toCharge();
}

/** Adds up the slices of one call. */
class ChargeSum {
  private readonly unpaid = new UnpaidCostList();
  /** Whether the caller pays the served slices. */
  private readonly isPaid: boolean;
  private promptTokens = 0;
  private totalTokens = 0;
  private tokensByModality: TokensByModality | null = {};
  private paid: PicoUsd | null = 0n;
  private reported: PicoUsd | null = 0n;
  private own: PicoUsd | null = 0n;
  private isByok = false;
  private isEstimated = false;

  constructor(
    private readonly routed: RoutedCall,
    private readonly addedTo: (target: EndpointTarget) => number,
    private readonly priceDay: string,
  ) {
    this.isPaid = routed.error?.payer !== 'operator';
  }

  async addServed(slice: ServedSlice): Promise<void> {
    // The record of an earlier call has the provider's bill.
    const { target, isKept = false } = slice;
    const added = this.addedTo(target);
    const usage = reportedUsage(slice) ?? (await estimateUsage(slice, added));
    if (usage.isEstimated) this.isEstimated = true;
    const bill = billOf(slice, usage, added, this.priceDay);
    this.addTokens(bill);
    // Through an own provider key the provider bills its owner.
    if (target.credential !== null) {
      this.isByok = true;
      this.own = add(this.own, isKept ? 0n : bill.cost);
    } else {
      this.reported = add(this.reported, isKept ? 0n : bill.reported);
      this.paid = add(this.paid, this.isPaid ? bill.cost : 0n);
      if (!this.isPaid && !isKept) addUnpaid(this.unpaid, slice, 'failed_call', bill.reported);
    }
    if (bill.isOverReported && !isKept && (this.isPaid || target.credential !== null))
      addUnpaid(this.unpaid, slice, 'over_reported', difference(bill.reported, bill.cost));
  }

  async addWasted(slice: WastedSlice): Promise<void> {
    const { target, input, reason = 'broken_answer' } = slice;
    // Limits have reserved one answer for each input of an own key.
    if (target.credential !== null) return;
    const added = this.addedTo(target);
    const { tokens, byModality = {} } = reportedUsage(slice) ?? (await estimateUsage(slice, added));
    const amount = costOfTokens(input, tokens, byModality, target.endpoint, this.priceDay, added);
    this.reported = add(this.reported, amount);
    addUnpaid(this.unpaid, slice, reason, amount);
  }

  /** Reservations may count tokens, and bounds of slices estimate them: the sum of the bounds may be more. */
  boundBy(reserved: SpendBound): void {
    const paid = atMost(this.paid, reserved.cost);
    const shared = this.routed.served.find(({ target }) => target.credential === null);
    if (paid !== this.paid && shared)
      addUnpaid(this.unpaid, shared, 'over_reported', difference(this.paid, paid));
    this.paid = paid;
    this.own = atMost(this.own, reserved.costWithByok - (paid ?? 0n));
  }

  toCharge(): Charge {
    const { isPaid, isByok, paid } = this;
    const hasFailed = this.routed.error !== null;
    return {
      promptTokens: isPaid ? this.promptTokens : 0,
      totalTokens: isPaid ? this.totalTokens : 0,
      tokensByModality: hasFailed ? null : this.tokensByModality,
      isEstimated: this.isEstimated && !hasFailed,
      cost: paid,
      upstreamCost: isByok ? this.own : this.reported,
      isByok,
      unpaid: this.unpaid.costs,
    };
  }

  /** Each slice may count as many tokens as a record can hold. */
  private addTokens(bill: SliceBill): void {
    this.promptTokens = Math.min(this.promptTokens + bill.promptTokens, MAX_TOKENS);
    this.totalTokens = Math.min(this.totalTokens + bill.totalTokens, MAX_TOKENS);
    this.tokensByModality =
      this.tokensByModality &&
      bill.tokensByModality &&
      addTokens(this.tokensByModality, bill.tokensByModality);
  }
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

/** Remembers one endpoint: it serves most slices of a call. */
function addedBytesOf(request: EmbeddingRequest): (target: EndpointTarget) => number {
  let last: { readonly endpoint: EndpointTarget['endpoint']; readonly bytes: number } | null = null;
  return (target) => {
    const { endpoint } = target;
    if (last?.endpoint !== endpoint) last = { endpoint, bytes: addedBytes(target, request) };
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
