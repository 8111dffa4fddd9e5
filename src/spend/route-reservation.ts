// The reservation of a call that own provider keys and the operator's credential may serve.
import type { CallSpend } from './call-spend.js';
import type { SpendBounds } from './spend-limiter.js';

interface ReservedRoute {
  /** `credential` null: the operator's. */
  readonly targets: readonly { readonly credential: object | null }[];
}

/**
 * Returns the endpoints that the reservation covers. Where own provider keys can serve, the call does not wait for money
 * that other calls have reserved: it leaves out the shared endpoints.
 */
export async function reserveRoute<Route extends ReservedRoute>(
  spend: CallSpend,
  route: Route,
  boundsOf: (route: Route) => SpendBounds,
): Promise<Route> {
  const own = route.targets.filter(({ credential }) => credential !== null);
  const bounds = boundsOf(route);
  if (own.length === 0 || own.length === route.targets.length) {
    await spend.reserve(bounds);
    return route;
  }
  if (await spend.tryReserve(bounds)) return route;
  const ownRoute = { ...route, targets: own };
  await spend.reserve(boundsOf(ownRoute));
  return ownRoute;
}
