// What a call may cost, and what it did cost.
import { priceOfInput } from '../catalogue/catalogue-model.js';
import { tokenBound, tokenCount, tokensWithoutUsage } from '../catalogue/token-count.js';
import type { EmbeddingRequest } from '../domain/embedding.js';
import { AppError } from '../domain/errors.js';
import type { PicoUsd } from '../domain/money.js';
import type { SpendBound } from '../domain/spend-cap.js';
import { utcDay } from '../domain/spend.js';
import type { RoutedCall } from '../routing/embedding-router.js';
import type { EndpointTarget } from '../routing/endpoint-target.js';
import type { Route } from '../routing/route-planner.js';
import type { SpendBounds } from '../spend/spend-gate.js';

export interface Charge {
  readonly promptTokens: number;
  readonly totalTokens: number;
  /** What the caller pays; null where no price is known: an unknown price is never counted as 0. */
  readonly cost: PicoUsd | null;
  /**
   * What the provider charges, for what it served of a failed call as well. Of a call through own keys it is what it
   * charges their owner: slices that the operator's keys served are in `cost` alone.
   */
  readonly upstreamCost: PicoUsd | null;
  readonly isByok: boolean;
}

/** The dearest of the endpoints that may serve decides. Throws `insufficient_credits` where one has no known price. */
export function boundsOf(route: Route, request: EmbeddingRequest, now: Date): SpendBounds {
  const day = utcDay(now);
  const boundWith = (tokensOf: (target: EndpointTarget) => number): SpendBound => {
    const bound = { cost: 0n, byokCost: 0n };
    for (const target of route.targets) {
      const price = priceOfInput(target.endpoint, day, request.input);
      if (price === null) {
        throw new AppError('insufficient_credits', {
          detail: `${route.model.id} has no known price, so that a key with a limit cannot use it`,
        });
      }
      const amount = BigInt(tokensOf(target)) * price;
      const member = target.credential === null ? 'cost' : 'byokCost';
      if (amount > bound[member]) bound[member] = amount;
    }
    return bound;
  };
  return {
    quick: () => boundWith(({ endpoint }) => tokenBound(request.input, endpoint)),
    exact: async () => {
      const counts = new Map<EndpointTarget, number>();
      for (const target of route.targets)
        counts.set(target, await tokenCount(request.input, target.endpoint));
      return boundWith((target) => counts.get(target) ?? 0);
    },
  };
}

/** Sums up what was served. A call that failed costs its caller nothing. */
export async function chargeFor(routed: RoutedCall, createdAt: Date): Promise<Charge> {
  const day = utcDay(createdAt);
  let promptTokens = 0;
  let totalTokens = 0;
  let shared: PicoUsd | null = 0n;
  let own: PicoUsd | null = 0n;
  for (const { target, input, ...usage } of routed.served) {
    const counted =
      usage.promptTokens ?? usage.totalTokens ?? (await tokensWithoutUsage(input, target.endpoint));
    promptTokens += counted;
    totalTokens += usage.totalTokens ?? counted;
    const price = priceOfInput(target.endpoint, day, input);
    const amount: PicoUsd | null = price === null ? null : BigInt(counted) * price;
    // Through an own provider key the provider's bill goes to the customer, and nothing to this account.
    if (target.credential === null) shared = add(shared, amount);
    else own = add(own, amount);
  }
  const isByok = routed.served.some(({ target }) => target.credential !== null);
  const bill = { upstreamCost: isByok ? own : shared, isByok };
  if (routed.error) return { promptTokens: 0, totalTokens: 0, cost: 0n, ...bill };
  return { promptTokens, totalTokens, cost: shared, ...bill };
}

function add(sum: PicoUsd | null, amount: PicoUsd | null): PicoUsd | null {
  return sum === null || amount === null ? null : sum + amount;
}
