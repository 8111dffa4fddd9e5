import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

/** The configured endpoints with their health. */
export const endpointsQuery = queryOptions({
  queryKey: ['endpoints'],
  queryFn: async ({ signal }): Promise<readonly Schemas['EndpointDto'][]> =>
    (await call(api.GET('/api/v1/endpoints', { signal }))).data,
});
