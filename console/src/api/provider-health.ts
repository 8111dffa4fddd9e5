// The health of all providers, summed up by the service: a catalogue can have thousands of endpoints.
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type ProviderHealth = Schemas['ProviderHealthDto'];

const REFRESH_MS = 15_000;

export const providerHealthQuery = queryOptions({
  queryKey: ['providers', 'health'],
  queryFn: async ({ signal }): Promise<readonly ProviderHealth[]> =>
    (await call(api.GET('/api/v1/providers/health', { signal }))).data,
  refetchInterval: REFRESH_MS,
});
