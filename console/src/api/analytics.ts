import { queryOptions } from '@tanstack/react-query';
import { api, call } from './client';
import type { Schemas } from './client';

export type AnalyticsQuery = Schemas['AnalyticsQueryDto'];
/** Metrics are numbers or null, dimensions texts or null; `date` is the start of the period. */
export type AnalyticsRow = Readonly<Record<string, string | number | null>>;

/** Null: all workspaces of the account. */
export const withinWorkspace = (workspaceId: string | null): NonNullable<AnalyticsQuery['filters']> =>
  workspaceId === null ? [] : [{ field: 'workspace', operator: 'eq', value: workspaceId }];

/** `key` names the query; it is not the body, whose times follow the moment of the load. */
export const analyticsQuery = (key: readonly unknown[], body: (now: number) => AnalyticsQuery) =>
  queryOptions({
    queryKey: ['analytics', ...key],
    queryFn: async ({ signal }) => (await loadAnalytics(body(Date.now()), signal)).rows,
    staleTime: 15_000,
  });

export async function loadAnalytics(body: AnalyticsQuery, signal?: AbortSignal): Promise<AnalyticsAnswer> {
  const { data } = await call(api.POST('/api/v1/analytics/query', { body, signal }));
  return { rows: data.data as unknown as readonly AnalyticsRow[], isTruncated: data.metadata.truncated };
}

interface AnalyticsAnswer {
  readonly rows: readonly AnalyticsRow[];
  readonly isTruncated: boolean;
}

export function numberOf(row: AnalyticsRow | undefined, metric: string): number {
  const value = row?.[metric];
  return typeof value === 'number' ? value : 0;
}

export function numberOrNull(row: AnalyticsRow | undefined, metric: string): number | null {
  const value = row?.[metric];
  return typeof value === 'number' ? value : null;
}

/** Refused calls among all; null: there was none of either. */
export function refusedShare(row: AnalyticsRow | undefined): number | null {
  const refused = numberOf(row, 'refused_count');
  const all = refused + numberOf(row, 'request_count');
  return all === 0 ? null : refused / all;
}

/** The start of the period. */
export const timeOf = (row: AnalyticsRow): number => Date.parse(String(row['date']));

export function textOf(row: AnalyticsRow, dimension: string): string | null {
  const value = row[dimension];
  return typeof value === 'string' ? value : null;
}
