// The bound of a call that several endpoints may serve.
import type { PicoUsd } from '../domain/spend/money.js';
import type { SpendBound } from '../domain/spend/spend-limit.js';

interface BoundedEndpoint {
  /** Whether the operator's credential may serve there. */
  readonly isShared: boolean;
}

/**
 * Each part of a call may be served by another endpoint: the most expensive endpoint for it counts. `costOf` returns null
 * for an unknown price: `onUnknownPrice` throws for a shared endpoint; through an own provider key it counts nothing.
 */
export function sumOfMostExpensive<Endpoint extends BoundedEndpoint>(
  endpoints: readonly Endpoint[],
  parts: number,
  costOf: (endpoint: Endpoint, part: number) => PicoUsd | null,
  onUnknownPrice: () => never,
): SpendBound {
  const sum = { cost: 0n, costWithByok: 0n };
  for (let part = 0; part < parts; part++) {
    let cost = 0n;
    let costWithByok = 0n;
    for (const endpoint of endpoints) {
      const amount = costOf(endpoint, part);
      if (amount === null) {
        if (endpoint.isShared) onUnknownPrice();
        continue;
      }
      if (endpoint.isShared && amount > cost) cost = amount;
      if (amount > costWithByok) costWithByok = amount;
    }
    sum.cost += cost;
    sum.costWithByok += costWithByok;
  }
  return sum;
}
