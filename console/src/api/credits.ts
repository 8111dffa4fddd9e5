import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export const creditsQuery = queryOptions({
  queryKey: ['credits'],
  queryFn: async ({ signal }): Promise<Schemas['CreditsDto']> =>
    (await call(api.GET('/api/v1/credits', { signal }))).data,
});
