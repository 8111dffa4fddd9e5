// The maximum cost of a call.
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { countedItemCosts, greatestCost, greatestItemCost } from '../../catalogue/input-cost.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { addedBytes } from '../../routing/billed-members.js';
import { noKnownPrice } from '../../routing/bounded-price.js';
import type { Route } from '../../routing/embeddings/route-planner.js';
import { sumOfMostExpensive } from '../../spend/most-expensive-endpoint.js';
import type { SpendBounds } from '../../spend/spend-limiter.js';

interface PricedEndpoint {
  readonly endpoint: ModelEndpoint;
  /** Bytes of text that the provider reads with each input. */
  readonly added: number;
  /** Whether the operator's credential may serve there. */
  isShared: boolean;
}

/** Throws `not_found` where a shared endpoint has no known price. */
export function boundsOf(route: Route, request: EmbeddingRequest, priceDay: string): SpendBounds {
  const { input } = request;
  const { length } = input.items;
  const onUnknownPrice = (): never => {
    throw noKnownPrice(route.model.id);
  };
  return {
    quick: () => {
      const endpoints = endpointsOf(route, request);
      // One endpoint serves all inputs then, and their costs need no comparison one by one.
      if (endpoints.length === 1 || length === 1) {
        const costOfAll = ({ endpoint, added }: PricedEndpoint) =>
          greatestCost(input, endpoint, priceDay, added);
        return sumOfMostExpensive(endpoints, 1, costOfAll, onUnknownPrice);
      }
      const costOf = ({ endpoint, added }: PricedEndpoint, index: number) => {
        const item = input.items[index];
        return item === undefined ? null : greatestItemCost(item, endpoint, priceDay, added);
      };
      return sumOfMostExpensive(endpoints, length, costOf, onUnknownPrice);
    },
    exact: async () => {
      const endpoints = endpointsOf(route, request);
      const costs = new Map<PricedEndpoint, readonly (PicoUsd | null)[]>();
      for (const priced of endpoints)
        costs.set(priced, await countedItemCosts(input, priced.endpoint, priceDay, priced.added));
      const costOf = (priced: PricedEndpoint, index: number) => costs.get(priced)?.[index] ?? null;
      return sumOfMostExpensive(endpoints, length, costOf, onUnknownPrice);
    },
  };
}

/** Each endpoint once, for any number of credentials. */
function endpointsOf({ targets }: Route, request: EmbeddingRequest): readonly PricedEndpoint[] {
  const endpoints = new Map<ModelEndpoint, PricedEndpoint>();
  for (const target of targets) {
    const { endpoint, credential } = target;
    const known = endpoints.get(endpoint);
    const isShared = credential === null;
    if (!known) endpoints.set(endpoint, { endpoint, added: addedBytes(target, request), isShared });
    else if (isShared) known.isShared = true;
  }
  return [...endpoints.values()];
}
