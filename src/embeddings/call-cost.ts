// What a call may cost, and what it did cost.
import { costOfTokens, countedItemCosts, greatestCost, greatestItemCost } from '../catalogue/input-cost.js';
import { tokensWithoutUsage } from '../catalogue/token-count.js';
import type { EmbeddingInput, EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import { MAX_TOKENS } from '../domain/generation.js';
import { addTokens, modalitiesOf } from '../domain/modality.js';
import type { TokensByModality } from '../domain/modality.js';
import type { PicoUsd } from '../domain/money.js';
import type { SpendBound } from '../domain/spend-cap.js';
import type { BilledSlice, RoutedCall } from '../routing/embedding-router.js';
import type { EndpointTarget } from '../routing/endpoint-target.js';
import type { Route } from '../routing/route-planner.js';
import type { SpendBounds } from '../spend/spend-gate.js';

export interface Charge {
  readonly promptTokens: number;
  readonly totalTokens: number;
  /** Null where it is not known of every token what it is of. */
  readonly tokensByModality: TokensByModality | null;
  /** What the caller pays; null where no price is known: an unknown price is never counted as 0. */
  readonly cost: PicoUsd | null;
  /**
   * What providers charge, for what they served of a failed call and for broken answers as well. Of a call through own
   * keys it is what they charge their owner for what they served: slices that the operator's keys served are in `cost`
   * alone.
   */
  readonly upstreamCost: PicoUsd | null;
  readonly isByok: boolean;
}

/**
 * Every input may be served by any of the endpoints, each by another: of each the dearest endpoint for it counts. Throws
 * `insufficient_credits` where one has no known price.
 */
export function boundsOf(route: Route, { input }: EmbeddingRequest, priceDay: string): SpendBounds {
  const { targets } = route;
  const { length } = input.items;
  // Nothing can be mixed then, and all inputs are looked at together.
  const isServedByOne = targets.length === 1 || length === 1;
  return {
    quick: () =>
      isServedByOne
        ? sumOfDearest(route, 1, ({ endpoint }) => greatestCost(input, endpoint, priceDay))
        : sumOfDearest(route, length, ({ endpoint }, position) => {
            const item = input.items[position];
            return item === undefined ? null : greatestItemCost(item, endpoint, priceDay);
          }),
    exact: async () => {
      const costs = new Map<EndpointTarget, readonly (PicoUsd | null)[]>();
      for (const target of targets)
        costs.set(target, await countedItemCosts(input, target.endpoint, priceDay));
      return sumOfDearest(route, length, (target, position) => costs.get(target)?.[position] ?? null);
    },
  };
}

function sumOfDearest(
  { model, targets }: Route,
  count: number,
  costOf: (target: EndpointTarget, position: number) => PicoUsd | null,
): SpendBound {
  const sum = { cost: 0n, costWithByok: 0n };
  for (let position = 0; position < count; position++) {
    let cost = 0n;
    let costWithByok = 0n;
    for (const target of targets) {
      const amount = costOf(target, position);
      if (amount === null) {
        throw new AppError('insufficient_credits', {
          detail: `${model.id} has no known price for this input, so that a key with a limit cannot use it`,
        });
      }
      if (target.credential === null && amount > cost) cost = amount;
      if (amount > costWithByok) costWithByok = amount;
    }
    sum.cost += cost;
    sum.costWithByok += costWithByok;
  }
  return sum;
}

/**
 * Sums up what was served, at the prices of the day that its bounds were computed for: a price that rises meanwhile must
 * not make it dearer than what was reserved. A call that failed costs its caller nothing.
 */
export async function chargeFor(routed: RoutedCall, priceDay: string): Promise<Charge> {
  let promptTokens = 0;
  let totalTokens = 0;
  let tokensByModality: TokensByModality | null = {};
  let shared: PicoUsd | null = 0n;
  let own: PicoUsd | null = 0n;
  let wasted: PicoUsd | null = 0n;
  for (const slice of routed.served) {
    const { target, input, tokensByModality: told = {} } = slice;
    const counted = toldTokens(slice) ?? (await tokensWithoutUsage(input, target.endpoint));
    // Slices may each count as much as a record can hold: none is lost for their sum.
    promptTokens = Math.min(promptTokens + counted, MAX_TOKENS);
    totalTokens = Math.min(totalTokens + (slice.totalTokens ?? counted), MAX_TOKENS);
    const known = slice.tokensByModality ?? tokensOfOneModality(input, counted);
    tokensByModality = tokensByModality && known && addTokens(tokensByModality, known);
    const amount = costOfTokens(input, counted, told, target.endpoint, priceDay);
    // Through an own provider key the provider's bill goes to the customer, and nothing to this account.
    if (target.credential === null) shared = add(shared, amount);
    else own = add(own, amount);
  }
  for (const slice of routed.wasted) {
    const { target, input, tokensByModality: told = {} } = slice;
    // What the owner of an own key pays counts towards limits, which have reserved one answer to each input.
    if (target.credential !== null) continue;
    const counted = toldTokens(slice) ?? (await tokensWithoutUsage(input, target.endpoint));
    wasted = add(wasted, costOfTokens(input, counted, told, target.endpoint, priceDay));
  }
  const isByok = routed.served.some(({ target }) => target.credential !== null);
  const upstreamCost = isByok ? own : add(shared, wasted);
  if (routed.error) {
    return { promptTokens: 0, totalTokens: 0, tokensByModality: null, cost: 0n, upstreamCost, isByok };
  }
  return { promptTokens, totalTokens, tokensByModality, cost: shared, upstreamCost, isByok };
}

function toldTokens({ promptTokens, totalTokens }: BilledSlice): number | null {
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
