// Most milliseconds that the steps of a shutdown last while the database answers. SHUTDOWN_ANNOUNCE_MS, for load balancers,
// and SHUTDOWN_GRACE_MS, for calls in flight, come before them. Kubernetes and Docker kill processes that outlast a grace of
// their own, which therefore covers the sum (deploy/README.md, "Kubernetes").
import type { AppConfig } from './app-config.js';

/** Streams that outlast the grace are aborted, counted, recorded and sent to their clients. */
export const ABORTED_STREAMS_TIME = 10_000;
/** The step of the copy to ClickHouse that is in progress. */
export const HISTORY_STEP_TIME = 5_000;
/** Requests to destinations that are in flight; after them, those to receivers of notifications. */
export const DELIVERIES_TIME = 5_000;
/** An unreachable collector of the service's own spans must not delay the shutdown. */
export const LAST_SPANS_TIME = 3_000;
/** A few statements: last records, spend leases, cursors. */
const LAST_STATEMENTS_TIME = 2_000;

/** From SIGTERM to the end of the last process: the one of deliveries stops after those that serve calls. */
export function shutdownTime({
  shutdownAnnounce,
  shutdownGrace,
}: Pick<AppConfig, 'shutdownAnnounce' | 'shutdownGrace'>): number {
  const deliveries = HISTORY_STEP_TIME + 2 * DELIVERIES_TIME;
  const rest = ABORTED_STREAMS_TIME + deliveries + 2 * (LAST_STATEMENTS_TIME + LAST_SPANS_TIME);
  return shutdownAnnounce + shutdownGrace + rest;
}
