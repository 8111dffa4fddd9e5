// Refused calls, one by one: the newest 100 of the account.
import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type Refusal = Schemas['RefusalDto'];
export type RefusalReason = Refusal['reason'];

interface RefusalFilters {
  readonly workspace_id?: string;
  readonly api_key_hash?: string;
}

export const refusalsQuery = (filters: RefusalFilters) =>
  queryOptions({
    queryKey: ['refusals', filters],
    queryFn: async ({ signal }): Promise<readonly Refusal[]> =>
      (await call(api.GET('/api/v1/refusals', { params: { query: filters }, signal }))).data,
    refetchInterval: 15_000,
  });
