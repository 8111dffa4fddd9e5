import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type AnalyticsQuery = Schemas['AnalyticsQueryDto'];
/** Metrics are numbers or null, dimensions texts or null; `date` is the start of the period. */
export type AnalyticsRow = Readonly<Record<string, string | number | null>>;

/** `key` names the query; it is not the body, whose times follow the moment of the load. */
export const analyticsQuery = (key: readonly unknown[], body: (now: number) => AnalyticsQuery) =>
  queryOptions({
    queryKey: ['analytics', ...key],
    queryFn: async ({ signal }): Promise<readonly AnalyticsRow[]> => {
      const { data } = await call(api.POST('/api/v1/analytics/query', { body: body(Date.now()), signal }));
      return data.data as unknown as readonly AnalyticsRow[];
    },
    staleTime: 15_000,
  });

export function numberOf(row: AnalyticsRow | undefined, metric: string): number {
  const value = row?.[metric];
  return typeof value === 'number' ? value : 0;
}

export function numberOrNull(row: AnalyticsRow | undefined, metric: string): number | null {
  const value = row?.[metric];
  return typeof value === 'number' ? value : null;
}

export function textOf(row: AnalyticsRow, dimension: string): string | null {
  const value = row[dimension];
  return typeof value === 'string' ? value : null;
}
