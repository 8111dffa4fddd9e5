// The cost of a rerank call: its bound before the call, and the charge afterwards (docs/contract.md#rerank).
import { rowOn } from '../../catalogue/catalogue-model.js';
import { costOfQuantity, greatestQuantity, usualQuantity } from '../../catalogue/rerank-cost.js';
import type { RerankQuantity } from '../../catalogue/rerank-cost.js';
import type { RerankEndpoint } from '../../catalogue/rerank-model.js';
import type { RerankDocuments, RerankFacts, RerankRequest } from '../../domain/rerank/rerank.js';
import type { Charge } from '../../domain/spend/charge.js';
import { atMost } from '../../domain/spend/money.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { MAX_TOKENS } from '../../domain/token-count.js';
import { addedBytes } from '../../routing/billed-members.js';
import { noKnownPrice } from '../../routing/bounded-price.js';
import { billedAt } from '../../routing/endpoint-target.js';
import type { RerankTarget } from '../../routing/endpoint-target.js';
import { greatestCostAt } from '../../routing/rerank/rerank-planner.js';
import type { RerankRoute } from '../../routing/rerank/rerank-planner.js';
import type { RoutedRerank } from '../../routing/rerank/rerank-router.js';
import type { BilledSlice } from '../../routing/routed-call.js';
import { ChargedAmounts } from '../../spend/charged-amounts.js';
import type { BilledBy } from '../../spend/charged-amounts.js';
import { sumOfMostExpensive } from '../../spend/most-expensive-endpoint.js';
import type { SpendBounds } from '../../spend/spend-limiter.js';

export interface RerankCharge extends Charge, Pick<RerankFacts, 'searchUnits' | 'usageSource'> {}

type BilledPart = BilledSlice<RerankTarget>;

/** One endpoint serves the whole call: the most expensive one counts. Throws `not_found` where a price is not known. */
export function rerankBounds(route: RerankRoute, request: RerankRequest, priceDay: string): SpendBounds {
  const shared = new Map<RerankEndpoint, boolean>();
  for (const { endpoint, credential } of route.targets)
    shared.set(endpoint, shared.get(endpoint) === true || credential === null);
  const endpoints = [...shared].map(([endpoint, isShared]) => ({ endpoint, isShared }));
  const bound = (): SpendBound =>
    sumOfMostExpensive(
      endpoints,
      1,
      ({ endpoint }) => greatestCostAt(route.model, endpoint, request, priceDay),
      () => {
        throw noKnownPrice(route.model.id);
      },
    );
  return { quick: bound, exact: async () => bound() };
}

/** The caller pays at most the bound of the documents, and at most the reservation (null: no limit). */
export function rerankCharge(
  routed: RoutedRerank,
  request: RerankRequest,
  priceDay: string,
  reserved: SpendBound | null,
): RerankCharge {
  const amounts = new ChargedAmounts<BilledPart>(routed.error?.payer !== 'operator', billedBy);
  let searchUnits: number | null = null;
  let tokens = 0;
  let isCounted = false;
  for (const part of routed.served) {
    const bill = billOf(part, request, priceDay);
    amounts.addServed(part, bill);
    tokens = Math.min(tokens + bill.tokens, MAX_TOKENS);
    if (bill.searchUnits !== null) searchUnits = (searchUnits ?? 0) + bill.searchUnits;
    isCounted ||= bill.isCounted;
  }
  for (const part of routed.wasted) {
    const { reported } = billOf(part, request, priceDay);
    amounts.addWasted(part, part.reason ?? 'broken_answer', reported);
  }
  if (reserved !== null) {
    const shared = routed.served.find(({ target }) => target.credential === null);
    amounts.boundBy(reserved, shared);
  }
  const { isPaid } = amounts;
  const isServed = isPaid && routed.served.length > 0;
  return {
    promptTokens: isPaid ? tokens : 0,
    totalTokens: isPaid ? tokens : 0,
    tokensByModality: null,
    isEstimated: false,
    ...amounts.toCharge(),
    searchUnits: isPaid ? searchUnits : null,
    usageSource: isServed ? (isCounted ? 'counted' : 'reported') : 'none',
  };
}

function billOf(part: BilledPart, { query, extra }: RerankRequest, day: string) {
  const { target, promptTokens, totalTokens, searchUnits: reportedUnits } = part;
  const { endpoint, wire } = target;
  const texts = { query, documents: part.input as RerankDocuments };
  const price = rowOn(endpoint.prices, day);
  const greatest = greatestQuantity(texts, target, addedBytes({ provider: wire, endpoint }, { extra }));
  const usual = usualQuantity(texts, target);
  const reportedTokens = totalTokens ?? promptTokens;
  const isPerUnit = price?.unit === 'search_unit';
  const isCounted = price !== null && (isPerUnit ? reportedUnits === undefined : reportedTokens === null);
  const billed: RerankQuantity = {
    searchUnits: reportedUnits ?? usual.searchUnits,
    tokens: reportedTokens ?? usual.tokens,
  };
  const reported = costOfQuantity(billed, endpoint, day);
  const cost = atMost(reported, costOfQuantity(greatest, endpoint, day));
  const needsTokens = price?.unit === 'token';
  return {
    cost,
    reported,
    isOverReported: reported !== cost,
    isCounted,
    tokens: reportedTokens === null && !needsTokens ? 0 : Math.min(billed.tokens, greatest.tokens),
    searchUnits:
      reportedUnits === undefined && !isPerUnit ? null : Math.min(billed.searchUnits, greatest.searchUnits),
  };
}

function billedBy(part: BilledPart): BilledBy {
  return { ...billedAt(part.target), reportedTokens: part.totalTokens ?? part.promptTokens ?? 0 };
}
