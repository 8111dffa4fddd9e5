// What a call may cost.
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { countedItemCosts, greatestCost, greatestItemCost } from '../../catalogue/input-cost.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import type { SpendBound } from '../../domain/spend/spend-limit.js';
import { addedBytes } from '../../routing/billed-members.js';
import { noKnownPrice } from '../../routing/bounded-price.js';
import type { Route } from '../../routing/route-planner.js';
import type { SpendBounds } from '../../spend/spend-limiter.js';

interface PricedEndpoint {
  readonly endpoint: ModelEndpoint;
  /** Bytes of text beside each input. */
  readonly added: number;
  /** Whether the operator's credential may serve there. */
  isShared: boolean;
}

/**
 * Every input may be served by any of the endpoints, each by another: of each the dearest endpoint for it counts. Throws
 * `not_found` where a shared one has no known price; through an own provider key an unknown price counts nothing.
 */
export function boundsOf(route: Route, request: EmbeddingRequest, priceDay: string): SpendBounds {
  const { input } = request;
  const { length } = input.items;
  return {
    quick: () => {
      const endpoints = endpointsOf(route, request);
      // Nothing can be mixed then, and all inputs are looked at together.
      const isServedByOne = endpoints.length === 1 || length === 1;
      return isServedByOne
        ? sumOfDearest(route, endpoints, 1, ({ endpoint, added }) =>
            greatestCost(input, endpoint, priceDay, added),
          )
        : sumOfDearest(route, endpoints, length, ({ endpoint, added }, index) => {
            const item = input.items[index];
            return item === undefined ? null : greatestItemCost(item, endpoint, priceDay, added);
          });
    },
    exact: async () => {
      const endpoints = endpointsOf(route, request);
      const costs = new Map<PricedEndpoint, readonly (PicoUsd | null)[]>();
      for (const priced of endpoints)
        costs.set(priced, await countedItemCosts(input, priced.endpoint, priceDay, priced.added));
      return sumOfDearest(route, endpoints, length, (priced, index) => costs.get(priced)?.[index] ?? null);
    },
  };
}

/** Each once, with however many credentials it may be called. */
function endpointsOf({ targets }: Route, request: EmbeddingRequest): readonly PricedEndpoint[] {
  const endpoints = new Map<ModelEndpoint, PricedEndpoint>();
  for (const { endpoint, provider, credential } of targets) {
    const known = endpoints.get(endpoint);
    const isShared = credential === null;
    if (!known) endpoints.set(endpoint, { endpoint, added: addedBytes(provider, request), isShared });
    else if (isShared) known.isShared = true;
  }
  return [...endpoints.values()];
}

function sumOfDearest(
  { model }: Route,
  endpoints: readonly PricedEndpoint[],
  count: number,
  costOf: (priced: PricedEndpoint, index: number) => PicoUsd | null,
): SpendBound {
  const sum = { cost: 0n, costWithByok: 0n };
  for (let index = 0; index < count; index++) {
    let cost = 0n;
    let costWithByok = 0n;
    for (const priced of endpoints) {
      const amount = costOf(priced, index);
      if (amount === null) {
        if (priced.isShared) throw noKnownPrice(model.id);
        continue;
      }
      if (priced.isShared && amount > cost) cost = amount;
      if (amount > costWithByok) costWithByok = amount;
    }
    sum.cost += cost;
    sum.costWithByok += costWithByok;
  }
  return sum;
}
