import { queryOptions } from '@tanstack/react-query';
import { getJson } from './client';

export interface Endpoint {
  readonly endpoint_id: string;
  readonly provider: string;
  readonly provider_name: string;
  readonly model: string;
  readonly state: 'serving' | 'open' | 'unconfigured';
  readonly last_failure: {
    readonly at: string;
    readonly class: string;
    readonly status: number | null;
  } | null;
}

export const endpointsQuery = queryOptions({
  queryKey: ['endpoints'],
  queryFn: async ({ signal }): Promise<readonly Endpoint[]> =>
    (await getJson<{ data: readonly Endpoint[] }>('/api/v1/endpoints', {}, signal)).data,
});
