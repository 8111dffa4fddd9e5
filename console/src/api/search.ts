import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Found = Schemas['SearchResultDto'];

/** Over all workspaces of the account. */
export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    enabled: text !== '',
    queryFn: async ({ signal }): Promise<readonly Found[]> =>
      (await call(api.GET('/api/v1/search', { params: { query: { q: text } }, signal }))).data,
    // A call of this moment is found by the next search.
    staleTime: 0,
  });
