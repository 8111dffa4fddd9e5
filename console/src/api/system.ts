import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

/** The state of the service, as the replica that answers sees it. */
export type System = Schemas['SystemDto'];

const REFRESH_MS = 10_000;

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ signal }): Promise<System> => (await call(api.GET('/api/v1/system', { signal }))).data,
  refetchInterval: REFRESH_MS,
});
