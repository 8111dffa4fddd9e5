// The cost of a finished call, and who pays it.
import { costOfTokens, greatestCost } from '../../catalogue/input-cost.js';
import { isCertainlyWithin, tokenBound, tokensWithoutUsage } from '../../catalogue/token-count.js';
import type { EmbeddingInput, EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { MAX_TOKENS } from '../../domain/token-count.js';
import { addTokens, modalitiesOf } from '../../domain/embeddings/modality.js';
import type { TokensByModality } from '../../domain/embeddings/modality.js';
import type { Charge } from '../../domain/spend/charge.js';
import { atMost } from '../../domain/spend/money.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { addedBytes } from '../../routing/billed-members.js';
import type { BilledSlice, RoutedCall, ServedSlice, WastedSlice } from '../../routing/routed-call.js';
import { billedAt } from '../../routing/endpoint-target.js';
import type { EndpointTarget } from '../../routing/endpoint-target.js';
import { ChargedAmounts } from '../../spend/charged-amounts.js';
import type { Bill, BilledBy } from '../../spend/charged-amounts.js';

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
  private readonly amounts: ChargedAmounts<BilledSlice>;
  private promptTokens = 0;
  private totalTokens = 0;
  private tokensByModality: TokensByModality | null = {};
  private isEstimated = false;

  constructor(
    private readonly routed: RoutedCall,
    private readonly addedTo: (target: EndpointTarget) => number,
    private readonly priceDay: string,
  ) {
    this.amounts = new ChargedAmounts(routed.error?.payer !== 'operator', billedBy);
  }

  async addServed(slice: ServedSlice): Promise<void> {
    const added = this.addedTo(slice.target);
    const usage = reportedUsage(slice) ?? (await estimateUsage(slice, added));
    if (usage.isEstimated) this.isEstimated = true;
    const bill = billOf(slice, usage, added, this.priceDay);
    this.addTokens(bill);
    // The record of an earlier call has the provider's bill.
    this.amounts.addServed(slice, bill, slice.isKept);
  }

  async addWasted(slice: WastedSlice): Promise<void> {
    const { target, input, reason = 'broken_answer' } = slice;
    const added = this.addedTo(target);
    const { tokens, byModality = {} } = reportedUsage(slice) ?? (await estimateUsage(slice, added));
    const amount = costOfTokens(input, tokens, byModality, target.endpoint, this.priceDay, added);
    this.amounts.addWasted(slice, reason, amount);
  }

  /** Reservations may count tokens, and bounds of slices estimate them: the sum of the bounds may be more. */
  boundBy(reserved: SpendBound): void {
    const shared = this.routed.served.find(({ target }) => target.credential === null);
    this.amounts.boundBy(reserved, shared);
  }

  toCharge(): Charge {
    const { isPaid } = this.amounts;
    const hasFailed = this.routed.error !== null;
    return {
      promptTokens: isPaid ? this.promptTokens : 0,
      totalTokens: isPaid ? this.totalTokens : 0,
      tokensByModality: hasFailed ? null : this.tokensByModality,
      isEstimated: this.isEstimated && !hasFailed,
      ...this.amounts.toCharge(),
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

interface SliceBill extends Bill {
  readonly promptTokens: number;
  readonly totalTokens: number;
  readonly tokensByModality: TokensByModality | null;
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

function billedBy(slice: BilledSlice): BilledBy {
  return { ...billedAt(slice.target), reportedTokens: reportedTokens(slice) ?? 0 };
}

function reportedTokens({ promptTokens, totalTokens }: BilledSlice): number | null {
  return promptTokens ?? totalTokens;
}

/** Null where the input has several modalities. */
function tokensOfOneModality(input: EmbeddingInput, tokens: number): TokensByModality | null {
  const [modality, ...others] = modalitiesOf(input);
  return modality === undefined || others.length > 0 ? null : { [modality]: tokens };
}
