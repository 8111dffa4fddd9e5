// The health of the providers, summed up over their endpoints. Contract: docs/contract.md#models.
import type { EndpointReport } from '../routing/endpoint-reports.js';

export interface ProviderHealth {
  /** In the catalogue. */
  readonly endpoints: number;
  /** With a credential and an address. */
  readonly configured: number;
  /** Their circuit breaker is open: routing skips them. */
  readonly open: number;
  /** The lowest and the highest median of the configured endpoints, in seconds; null: no recent call. */
  readonly latency: readonly [number, number] | null;
  /** The newest. */
  readonly lastFailure: EndpointReport['lastFailure'];
}

export function healthOf(reports: readonly EndpointReport[]): ProviderHealth {
  const configured = reports.filter(({ state }) => state !== 'unconfigured');
  const medians = configured.flatMap(({ latency }) => latency?.p50 ?? []);
  const failures = configured.flatMap(({ lastFailure }) => lastFailure ?? []);
  return {
    endpoints: reports.length,
    configured: configured.length,
    open: configured.filter(({ state }) => state === 'out').length,
    latency: medians.length === 0 ? null : [Math.min(...medians), Math.max(...medians)],
    lastFailure: failures.sort((left, right) => right.at.getTime() - left.at.getTime())[0] ?? null,
  };
}
