// The health of a provider, from that of its endpoints.
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { EndpointFacts } from './providers';

const PAGE = 100;
const REFRESH_MS = 15_000;

/** Every endpoint of the catalogue, by the slug of its provider. */
export const endpointsByProviderQuery = queryOptions({
  queryKey: ['endpoints', 'by-provider'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, readonly EndpointFacts[]>> => {
    const endpoints = new Map<string, EndpointFacts[]>();
    for (let offset = 0; ; offset += PAGE) {
      const query = { configured: false, offset, limit: PAGE };
      const { data, total_count: total } = await call(
        api.GET('/api/v1/endpoints', { params: { query }, signal }),
      );
      for (const endpoint of data) {
        const known = endpoints.get(endpoint.provider);
        if (known === undefined) endpoints.set(endpoint.provider, [endpoint]);
        else known.push(endpoint);
      }
      if (data.length < PAGE || offset + PAGE >= total) return endpoints;
    }
  },
  refetchInterval: REFRESH_MS,
});

export interface ProviderHealth {
  /** `unknown`: the catalogue has no endpoint of it. */
  readonly setup: 'configured' | 'unconfigured' | 'unknown';
  readonly endpoints: number;
  /** Endpoints whose circuit breaker is open: routing skips them. */
  readonly open: number;
  readonly lastFailure: EndpointFacts['last_failure'];
  /** The lowest and the highest median of its endpoints, of the last 30 minutes; null: no call. */
  readonly latency: readonly [number, number] | null;
}

export function healthOf(endpoints: readonly EndpointFacts[] = []): ProviderHealth {
  const serving = endpoints.filter(({ state }) => state !== 'unconfigured');
  const medians = serving.flatMap(({ latency_last_30m: latency }) => (latency === null ? [] : [latency.p50]));
  const failures = serving.flatMap(({ last_failure: failure }) => (failure === null ? [] : [failure]));
  return {
    setup: endpoints.length === 0 ? 'unknown' : serving.length === 0 ? 'unconfigured' : 'configured',
    endpoints: serving.length,
    open: serving.filter(({ state }) => state === 'open').length,
    lastFailure: failures.sort((left, right) => right.at.localeCompare(left.at))[0] ?? null,
    latency: medians.length === 0 ? null : [Math.min(...medians), Math.max(...medians)],
  };
}
