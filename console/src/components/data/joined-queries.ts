// Several queries that a view shows together.
import type { UseQueryResult } from '@tanstack/react-query';

type Joined = Pick<UseQueryResult, 'data' | 'error' | 'refetch'>;

export interface JoinedQueries {
  /** Of a query that has no data. One that has some keeps showing it, and loads again by itself. */
  readonly error: Error | null;
  /** Repeats each query that has failed. */
  readonly retry: () => void;
}

export function joinQueries(...queries: readonly Joined[]): JoinedQueries {
  const failed = queries.filter(({ error }) => error !== null);
  return {
    error: failed.find(({ data }) => data === undefined)?.error ?? null,
    retry: () => void Promise.all(failed.map(({ refetch }) => refetch())),
  };
}
